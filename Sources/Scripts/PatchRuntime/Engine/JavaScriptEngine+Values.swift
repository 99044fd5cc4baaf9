import CJavaScriptCore

extension JavaScriptEngine {
    /// The maximum nesting of a value, and the maximum number of values in it.
    static let deepest = 64
    static let mostValues = 1_000_000

    var undefined: JavaScriptValue { unsafe JavaScriptValue(raw: made(JSValueMakeUndefined(context))) }

    func value(_ text: String) -> JavaScriptValue {
        let text = EngineString(text)
        return unsafe JavaScriptValue(raw: made(JSValueMakeString(context, text.raw)))
    }

    func value(_ number: Double) -> JavaScriptValue {
        unsafe JavaScriptValue(raw: made(JSValueMakeNumber(context, number)))
    }

    func value(_ flag: Bool) -> JavaScriptValue { unsafe JavaScriptValue(raw: made(JSValueMakeBoolean(context, flag))) }

    func makeObject() -> JavaScriptValue { unsafe JavaScriptValue(raw: made(JSObjectMake(context, nil, nil))) }

    private func made(_ raw: OpaquePointer?) -> OpaquePointer {
        guard let raw = unsafe raw else { fatalError("there is no memory for a value") }
        return unsafe raw
    }

    func isUndefined(_ value: JavaScriptValue) -> Bool { unsafe JSValueIsUndefined(context, value.raw) }

    func isFunction(_ value: JavaScriptValue) -> Bool {
        unsafe JSValueIsObject(context, value.raw) && JSObjectIsFunction(context, value.raw)
    }

    func isString(_ value: JavaScriptValue) -> Bool { unsafe JSValueIsString(context, value.raw) }

    func flag(_ value: JavaScriptValue) -> Bool { unsafe JSValueToBoolean(context, value.raw) }

    func number(_ value: JavaScriptValue) -> Double { unsafe JSValueToNumber(context, value.raw, nil) }

    /// The value as text, or nil if the conversion fails.
    func text(of value: JavaScriptValue) -> String? {
        var thrown: OpaquePointer?
        guard let text = unsafe JSValueToStringCopy(context, value.raw, &thrown), unsafe thrown == nil else {
            return nil
        }
        return unsafe EngineString(taking: text).text
    }

    /// Converts a Swift value for a script.
    func value(_ value: PatchValue, objects: (any ValueCrossing)?) -> JavaScriptValue {
        switch value {
        case .null: return unsafe JavaScriptValue(raw: made(JSValueMakeNull(context)))
        case .boolean(let flag): return self.value(flag)
        case .number(let number): return self.value(number)
        case .string(let text): return self.value(text)
        case .array(let values):
            let list = unsafe JavaScriptValue(raw: made(JSObjectMakeArray(context, 0, nil, nil)))
            for (place, element) in values.enumerated() {
                unsafe JSObjectSetPropertyAtIndex(
                    context,
                    list.raw,
                    UInt32(place),
                    self.value(element, objects: objects).raw,
                    nil
                )
            }
            return list
        case .dictionary(let members):
            let object = makeObject()
            // Without a prototype, a setter or `__proto__` cannot intercept a member.
            let prototype = unsafe JSObjectGetPrototype(context, object.raw)
            unsafe JSObjectSetPrototype(context, object.raw, made(JSValueMakeNull(context)))
            for (name, member) in members { set(name, of: object, to: self.value(member, objects: objects)) }
            unsafe JSObjectSetPrototype(context, object.raw, prototype)
            return object
        case .data(let bytes): return data(bytes)
        case .date(let date):
            var number = unsafe Optional(self.value(date.millisecondsSince1970).raw)
            return unsafe JavaScriptValue(raw: made(JSObjectMakeDate(context, 1, &number, nil)))
        case .object(let object): return objects?.proxy(for: object) ?? proxy(for: object, prototype: nil)
        case .function(let function): return objects?.function(for: function) ?? undefined
        }
    }

    private func data(_ bytes: [UInt8]) -> JavaScriptValue {
        let array = unsafe made(JSObjectMakeTypedArray(context, kJSTypedArrayTypeUint8Array, bytes.count, nil))
        if !bytes.isEmpty, let place = unsafe JSObjectGetTypedArrayBytesPtr(context, array, nil) {
            unsafe bytes.withUnsafeBytes {
                unsafe place.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(place), byteCount: $0.count)
            }
        }
        return unsafe JavaScriptValue(raw: array)
    }

    /// Converts a script value for Swift.
    ///
    /// - Throws: ``PatchMismatch`` for a value that cannot be converted, a ``JavaScriptException`` if a getter throws.
    func patchValue(_ value: JavaScriptValue, objects: any ValueCrossing) throws -> PatchValue {
        var left = Self.mostValues
        return try read(value, depth: 0, left: &left, objects: objects)
    }

    private func read(
        _ value: JavaScriptValue,
        depth: Int,
        left: inout Int,
        objects: any ValueCrossing
    ) throws -> PatchValue {
        left -= 1
        guard left > 0 else { throw PatchMismatch(wanted: "of \(Self.mostValues) values at most", found: "larger") }
        switch unsafe JSValueGetType(context, value.raw) {
        case kJSTypeUndefined, kJSTypeNull: return .null
        case kJSTypeBoolean: return .boolean(unsafe JSValueToBoolean(context, value.raw))
        case kJSTypeNumber: return .number(unsafe JSValueToNumber(context, value.raw, nil))
        case kJSTypeString: return .string(text(of: value) ?? "")
        case kJSTypeObject: break
        case kJSTypeSymbol: throw PatchMismatch(wanted: "a value that Swift supports", found: "a symbol")
        default: throw PatchMismatch(wanted: "a value that Swift supports", found: "a BigInt")
        }
        if let object = hostObject(value) { return .object(object) }
        if unsafe JSObjectIsFunction(context, value.raw) { return .function(objects.patchFunction(value)) }
        if unsafe JSValueIsDate(context, value.raw) {
            return .date(PatchDate(millisecondsSince1970: unsafe JSValueToNumber(context, value.raw, nil)))
        }
        if unsafe JSValueGetTypedArrayType(context, value.raw, nil) == kJSTypedArrayTypeUint8Array {
            return .data(bytes(of: value))
        }
        guard depth < Self.deepest else {
            throw PatchMismatch(wanted: "nested \(Self.deepest) deep at most", found: "deeper, or holds itself")
        }
        if unsafe JSValueIsArray(context, value.raw) {
            let count = try count(of: value)
            guard count <= left else {
                throw PatchMismatch(wanted: "of \(Self.mostValues) values at most", found: "larger")
            }
            var values: [PatchValue] = []
            values.reserveCapacity(count)
            for place in 0..<count {
                values.append(try read(element(place, of: value), depth: depth + 1, left: &left, objects: objects))
            }
            return .array(values)
        }
        let own = try call(objects.members, value)
        let (names, held) = (try element(0, of: own), try element(1, of: own))
        let count = try count(of: names)
        guard count <= left else {
            throw PatchMismatch(wanted: "of \(Self.mostValues) values at most", found: "larger")
        }
        var members: [String: PatchValue] = [:]
        members.reserveCapacity(count)
        for place in 0..<count {
            let name = text(of: try element(place, of: names)) ?? ""
            members[name] = try read(element(place, of: held), depth: depth + 1, left: &left, objects: objects)
        }
        return .dictionary(members)
    }

    private func count(of list: JavaScriptValue) throws(JavaScriptException) -> Int {
        let length = try property("length", of: list)
        return Int(exactly: unsafe JSValueToNumber(context, length.raw, nil)) ?? 0
    }

    private func element(_ place: Int, of list: JavaScriptValue) throws(JavaScriptException) -> JavaScriptValue {
        var thrown: OpaquePointer?
        let value = unsafe JSObjectGetPropertyAtIndex(context, list.raw, UInt32(place), &thrown)
        return try unsafe ended(thrown == nil ? value : nil, thrown)
    }

    private func bytes(of array: JavaScriptValue) -> [UInt8] {
        let count = unsafe JSObjectGetTypedArrayByteLength(context, array.raw, nil)
        let offset = unsafe JSObjectGetTypedArrayByteOffset(context, array.raw, nil)
        guard count > 0, let place = unsafe JSObjectGetTypedArrayBytesPtr(context, array.raw, nil) else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: place + offset, count: count))
    }
}

/// Converts objects and functions between Swift and scripts.
protocol ValueCrossing: AnyObject {
    /// A JavaScript function that lists an object's own members: names, and values.
    var members: JavaScriptValue { get }
    func proxy(for object: any AnyObject & Sendable) -> JavaScriptValue
    func function(for function: PatchFunction) -> JavaScriptValue
    func patchFunction(_ function: JavaScriptValue) -> PatchFunction
}
