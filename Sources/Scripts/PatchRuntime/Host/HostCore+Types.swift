extension HostCore {
    func expose(
        _ name: String,
        _ identity: ObjectIdentifier,
        _ isInstance: @escaping (any AnyObject & Sendable) -> Bool,
        parent: String?,
        _ members: [PatchMember]
    ) throws(PatchCallError) {
        guard types[name] == nil, typeNames[identity] == nil else { throw .nameTaken(name) }
        if let parent, types[parent] == nil { throw .noParent(parent) }
        let (methods, statics) = (engine.makeObject(), engine.makeObject())
        var make = engine.undefined
        for member in members {
            let function = native(member, of: name)
            switch member.kind {
            case .method: engine.set(member.name, of: methods, to: function)
            case .staticMethod: engine.set(member.name, of: statics, to: function)
            case .constructor: make = function
            }
        }
        let parentName = parent.map { engine.value($0) } ?? engine.undefined
        guard let target = language.run(\.hostType, engine.value(name), parentName, make, methods, statics),
            let prototype = try? engine.property("prototype", of: target)
        else { throw .nameTaken(name) }
        let type = ExposedType(
            name: name,
            parent: parent,
            isInstance: isInstance,
            members: members,
            target: engine.hold(target),
            prototype: engine.hold(prototype)
        )
        for member in members {
            try member.slot?.bind(to: reference, target: member.kind == .staticMethod ? type.target : nil)
        }
        types[name] = type
        typeNames[identity] = name
    }

    /// A JavaScript function that calls the original member.
    private func native(_ member: PatchMember, of type: String) -> JavaScriptValue {
        engine.nativeFunction { [unowned self] this, given in
            let object = this.flatMap { engine.hostObject($0) }
            do {
                let values = try read(given, method: member.name)
                switch member.body {
                case .sync(let body): return engine.value(try body(object, values), objects: self)
                case .async(let body): return promise { try await body(object, values) }
                }
            } catch let misuse as PatchMisuse { throw PatchMisuse(description: "\(type).\(misuse)") }
        }
    }
}

extension HostCore {
    private func read(_ given: NativeArguments, method: String) throws -> [PatchValue] {
        var values: [PatchValue] = []
        for place in 0..<given.count {
            guard let value = given[place] else { continue }
            do { values.append(try engine.patchValue(value, objects: self)) } catch let mismatch as PatchMismatch {
                throw PatchMisuse(description: "\(method): argument \(place + 1) \(mismatch)")
            }
        }
        return values
    }
}

extension HostCore: ValueCrossing {
    var members: JavaScriptValue { language.members.value }

    func proxy(for object: any AnyObject & Sendable) -> JavaScriptValue {
        let type =
            typeNames[ObjectIdentifier(Swift.type(of: object as AnyObject))].flatMap { types[$0] }
            ?? types.values.first { $0.isInstance(object) }
        return engine.proxy(for: object, prototype: type?.prototype.value)
    }

    func function(for function: PatchFunction) -> JavaScriptValue {
        switch function.body {
        case .script(let kept as KeptFunction) where kept.reference === reference: kept.function.value
        case .script, .swift:
            engine.nativeFunction { [unowned self] _, given in
                engine.value(try function.call(try read(given, method: "a host function")), objects: self)
            }
        }
    }

    func patchFunction(_ function: JavaScriptValue) -> PatchFunction {
        PatchFunction(
            KeptFunction(function: engine.hold(function), owner: language.text(\.owner), reference: reference)
        )
    }
}

/// A script function that Swift code keeps.
struct KeptFunction: ScriptFunction {
    let function: HeldValue
    /// The patch that passed it to Swift.
    let owner: String?
    let reference: MethodHostReference

    func call(_ arguments: [PatchValue]) throws -> PatchValue {
        guard let host = reference.host as? PatchHost else { throw PatchCallError.noHost }
        return try host.withCore { core in try core.call(function, owner: owner, arguments) }
    }
}
