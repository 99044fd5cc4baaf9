extension HostCore {
    /// The `environment` of the language for this host; see `PatchLanguage`.
    func environment(of engine: JavaScriptEngine) -> JavaScriptValue {
        let environment = engine.makeObject()
        engine.set("global", of: environment, to: engine.global)
        engine.set("fixed", of: environment, to: engine.value(true))
        engine.set("waits", of: environment, to: engine.value(false))
        let functions: [(String, NativeFunction.Body)] = [
            ("changed", { [unowned self] _, given in try changed(given) }),
            ("schedule", { [unowned self] _, given in try schedule(given) }),
            ("include", { [unowned self] _, given in try include(given) }),
            ("log", { [unowned self] _, given in log(given) }),
        ]
        for (name, body) in functions { engine.set(name, of: environment, to: engine.nativeFunction(body)) }
        return environment
    }

    /// The arguments are (type, isStatic, name, method, id).
    private func changed(_ given: NativeArguments) throws -> JavaScriptValue {
        guard let type = text(given[0]), let name = text(given[2]), let isStatic = given[1], let method = given[3]
        else {
            return engine.undefined
        }
        let kind: PatchMember.Kind = engine.flag(isStatic) ? .staticMethod : .method
        guard let slot = types[type]?.members.first(where: { $0.kind == kind && $0.name == name })?.slot else {
            return engine.undefined
        }
        slot.changed(to: engine.isFunction(method) ? engine.hold(method) : nil, of: text(given[4]))
        return engine.undefined
    }

    /// The arguments are (queue, seconds, work).
    private func schedule(_ given: NativeArguments) throws -> JavaScriptValue {
        guard let queue = text(given[0]).flatMap(PatchQueue.init), let delay = given[1], let work = given[2] else {
            return engine.undefined
        }
        let seconds = engine.number(delay)
        guard seconds.isFinite, seconds >= 0, seconds <= 1e9 else {
            throw PatchMisuse(description: "a patch can wait for 0 to 1e9 seconds, not for \(seconds)")
        }
        guard scheduled < Self.mostScheduled else {
            throw PatchMisuse(description: "patches have already scheduled \(Self.mostScheduled) calls")
        }
        scheduled += 1
        let (held, owner, reference) = (engine.hold(work), language.text(\.owner), reference)
        settings.executor.run(on: queue, after: .seconds(seconds)) {
            (reference.host as? PatchHost)?.runScheduled(held, owner: owner)
        }
        return engine.undefined
    }

    private func log(_ given: NativeArguments) -> JavaScriptValue {
        if let level = text(given[0]).flatMap(PatchLogLine.Level.init), let line = text(given[1]) {
            settings.log(PatchLogLine(level: level, text: line, patch: text(given[2])))
        }
        return engine.undefined
    }

    /// The text of a string, or nil for any other value.
    func text(_ value: JavaScriptValue?) -> String? {
        guard let value, engine.isString(value) else { return nil }
        return engine.text(of: value)
    }
}

extension PatchHost {
    fileprivate func runScheduled(_ work: HeldValue, owner: String?) {
        withCore { core in
            core.scheduled -= 1
            core.attempt(owner) { _ = try core.engine.call(work.value) }
        }
    }
}
