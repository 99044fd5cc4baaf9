import CJavaScriptCore

extension JavaScriptEngine {
    /// The most arguments of one call from Swift: they stand on the stack, where the collector sees them.
    static let mostArguments = 64

    /// Evaluates a text as a program of its own.
    func evaluate(_ text: String, source: String) throws(JavaScriptException) -> JavaScriptValue {
        try entered { () throws(JavaScriptException) in
            let script = EngineString(text)
            let name = EngineString(source)
            var thrown: OpaquePointer?
            let result = unsafe JSEvaluateScript(context, script.raw, nil, name.raw, 1, &thrown)
            guard let result = unsafe result else { throw unsafe exception(thrown) }
            return unsafe JavaScriptValue(raw: result)
        }
    }

    /// Makes a function without parameters of a text; its variables are its own.
    func function(body: String, source: String) throws(JavaScriptException) -> JavaScriptValue {
        try entered { () throws(JavaScriptException) in
            let text = EngineString(body)
            let url = EngineString(source)
            let name = EngineString("patch")
            var thrown: OpaquePointer?
            let result = unsafe JSObjectMakeFunction(context, name.raw, 0, nil, text.raw, url.raw, 1, &thrown)
            guard let result = unsafe result else { throw unsafe exception(thrown) }
            return unsafe JavaScriptValue(raw: result)
        }
    }

    func call(
        _ function: JavaScriptValue,
        this: JavaScriptValue? = nil,
        _ arguments: JavaScriptValue...
    ) throws(JavaScriptException) -> JavaScriptValue {
        try call(function, this: this, count: arguments.count) { arguments[$0] }
    }

    /// Calls a function; each argument is made where the collector sees it.
    func call(
        _ function: JavaScriptValue,
        this: JavaScriptValue? = nil,
        count: Int,
        argument: (Int) throws(JavaScriptException) -> JavaScriptValue
    ) throws(JavaScriptException) -> JavaScriptValue {
        precondition(count <= Self.mostArguments, "a call from Swift has \(Self.mostArguments) arguments at most")
        return try entered { () throws(JavaScriptException) in
            var thrown: OpaquePointer?
            var failure: JavaScriptException?
            let result: OpaquePointer? = unsafe withUnsafeTemporaryAllocation(of: OpaquePointer?.self, capacity: count)
            { list in
                unsafe list.initialize(repeating: nil)
                do throws(JavaScriptException) {
                    for place in 0..<count { unsafe list[place] = try argument(place).raw }
                } catch {
                    failure = error
                    return nil
                }
                return unsafe JSObjectCallAsFunction(
                    context,
                    function.raw,
                    this?.raw,
                    count,
                    list.baseAddress,
                    &thrown
                )
            }
            if let failure { throw failure }
            guard let result = unsafe result else { throw unsafe exception(thrown) }
            return unsafe JavaScriptValue(raw: result)
        }
    }

    func property(_ name: String, of object: JavaScriptValue) throws(JavaScriptException) -> JavaScriptValue {
        try entered { () throws(JavaScriptException) in
            let name = EngineString(name)
            var thrown: OpaquePointer?
            let result = unsafe JSObjectGetProperty(context, object.raw, name.raw, &thrown)
            guard let result = unsafe result, unsafe thrown == nil else { throw unsafe exception(thrown) }
            return unsafe JavaScriptValue(raw: result)
        }
    }

    /// Sets a property of an object of ours; it has no setters.
    func set(_ name: String, of object: JavaScriptValue, to value: JavaScriptValue) {
        let name = EngineString(name)
        unsafe JSObjectSetProperty(
            context,
            object.raw,
            name.raw,
            value.raw,
            JSPropertyAttributes(kJSPropertyAttributeNone),
            nil
        )
    }

    /// What was thrown, as a value; reading it runs no more of the script than getters of what it threw.
    func exception(_ thrown: OpaquePointer?) -> JavaScriptException {
        if let stop = limits.stop { return JavaScriptException(kind: .stopped(stop), message: stop.sentence) }
        guard let thrown = unsafe thrown else { return JavaScriptException(message: "it throws nothing") }
        var failure = unsafe JavaScriptException(
            message: text(of: JavaScriptValue(raw: thrown)) ?? "it throws an object without a text"
        )
        guard unsafe JSValueIsObject(context, thrown) else { return failure }
        let object = unsafe JavaScriptValue(raw: thrown)
        failure.source = read("sourceURL", of: object).flatMap(text)
        failure.line = read("line", of: object).flatMap(integer)
        failure.column = read("column", of: object).flatMap(integer)
        failure.stack = read("stack", of: object).flatMap(text).map { String($0.prefix(8_192)) }
        failure.hostError = NativeClasses.hostError(in: object)
        return failure
    }

    private func read(_ name: String, of object: JavaScriptValue) -> JavaScriptValue? {
        let name = EngineString(name)
        var thrown: OpaquePointer?
        guard let value = unsafe JSObjectGetProperty(context, object.raw, name.raw, &thrown), unsafe thrown == nil,
            unsafe !JSValueIsUndefined(context, value)
        else { return nil }
        return unsafe JavaScriptValue(raw: value)
    }

    private func integer(_ value: JavaScriptValue) -> Int? {
        guard unsafe JSValueIsNumber(context, value.raw) else { return nil }
        return Int(exactly: unsafe JSValueToNumber(context, value.raw, nil))
    }
}

extension EngineLimits.Stop {
    var sentence: String {
        switch self {
        case .time: "it ran for longer than it may"
        case .memory: "it took more memory than it may"
        }
    }
}
