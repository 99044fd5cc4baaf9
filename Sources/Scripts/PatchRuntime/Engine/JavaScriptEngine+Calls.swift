import CJavaScriptCore

extension JavaScriptEngine {
    /// The most arguments of a call from Swift.
    ///
    /// They are on the stack, where the garbage collector finds them.
    static let mostArguments = 64
    /// The maximum nesting of calls from Swift into scripts.
    ///
    /// The stack suffices for these calls and the host's methods.
    static let deepestCall = 100

    /// Evaluates a text as a separate program.
    func evaluate(_ text: String, source: String) throws(JavaScriptException) -> JavaScriptValue {
        try entered { () throws(JavaScriptException) in
            let script = EngineString(text)
            let name = EngineString(source)
            var thrown: OpaquePointer?
            let result = unsafe JSEvaluateScript(context, script.raw, nil, name.raw, 1, &thrown)
            return try unsafe ended(result, thrown)
        }
    }

    private static let wrapping = "(function () {"

    /// Wraps a program in a function without parameters.
    ///
    /// Its variables are local, and line numbers stay the same.
    func function(ofProgram text: String, source: String) throws(JavaScriptException) -> JavaScriptValue {
        try checkSyntax(text, source: source)
        return try evaluate(Self.wrapping + text + "\n})", source: source)
    }

    func checkSyntax(_ text: String, source: String) throws(JavaScriptException) {
        try entered { () throws(JavaScriptException) in
            let script = EngineString(text)
            let name = EngineString(source)
            var thrown: OpaquePointer?
            guard unsafe !JSCheckScriptSyntax(context, script.raw, name.raw, 1, &thrown), let thrown = unsafe thrown
            else { return }
            throw exception(thrown: unsafe JavaScriptValue(raw: thrown))
        }
    }

    /// Converts a column in the wrapped program to the column in the program itself.
    func column(_ column: Int, line: Int) -> Int { line == 1 ? max(1, column - Self.wrapping.utf16.count) : column }

    func call(
        _ function: JavaScriptValue,
        this: JavaScriptValue? = nil,
        _ arguments: JavaScriptValue...
    ) throws(JavaScriptException) -> JavaScriptValue {
        try call(function, this: this, count: arguments.count) { arguments[$0] }
    }

    /// Calls a function, creating each argument where the garbage collector finds it.
    func call(
        _ function: JavaScriptValue,
        this: JavaScriptValue? = nil,
        count: Int,
        argument: (Int) throws(JavaScriptException) -> JavaScriptValue
    ) throws(JavaScriptException) -> JavaScriptValue {
        precondition(count <= Self.mostArguments, "a call from Swift has \(Self.mostArguments) arguments at most")
        return try entered { () throws(JavaScriptException) in
            guard nesting < Self.deepestCall else {
                throw JavaScriptException(
                    message: "RangeError: the host and its patches call one another more than \(Self.deepestCall) deep"
                )
            }
            nesting += 1
            defer { nesting -= 1 }
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
            return try unsafe ended(result, thrown)
        }
    }

    func property(_ name: String, of object: JavaScriptValue) throws(JavaScriptException) -> JavaScriptValue {
        try entered { () throws(JavaScriptException) in
            let name = EngineString(name)
            var thrown: OpaquePointer?
            let result = unsafe JSObjectGetProperty(context, object.raw, name.raw, &thrown)
            return try unsafe ended(thrown == nil ? result : nil, thrown)
        }
    }

    /// Sets a property of one of our own objects, which has no setters.
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

    /// Returns the result of an engine call, or throws the exception or the limit that ended it.
    func ended(_ result: OpaquePointer?, _ thrown: OpaquePointer?) throws(JavaScriptException) -> JavaScriptValue {
        if let stop = limits.takeStop() {
            recover()
            throw JavaScriptException(kind: .stopped(stop), message: stop.sentence, patch: stopped(stop))
        }
        if let result = unsafe result { return unsafe JavaScriptValue(raw: result) }
        guard let thrown = unsafe thrown else { throw JavaScriptException(message: "undefined") }
        throw exception(thrown: unsafe JavaScriptValue(raw: thrown))
    }

    /// Clears the exception that remains after a stop during promise jobs, because it blocks function calls.
    ///
    /// Evaluating a program clears it.
    private func recover() {
        let program = EngineString("0")
        _ = unsafe JSEvaluateScript(context, program.raw, nil, nil, 1, nil)
    }

    /// Describes a thrown value.
    ///
    /// Of the script's code, this runs at most the getters of the value.
    func exception(thrown: JavaScriptValue) -> JavaScriptException {
        let patch = blame(thrown)
        guard unsafe JSValueIsInstanceOfConstructor(context, thrown.raw, errorConstructor.value.raw, nil) else {
            return JavaScriptException(message: "it throws \(describe(thrown)), which is not an error", patch: patch)
        }
        var failure = JavaScriptException(
            message: text(of: thrown) ?? "it throws an error without a text",
            patch: patch
        )
        failure.source = read("sourceURL", of: thrown).flatMap(text)
        failure.line = read("line", of: thrown).flatMap(integer)
        failure.column = read("column", of: thrown).flatMap(integer)
        failure.stack = read("stack", of: thrown).flatMap(text).map { String($0.prefix(8_192)) }
        failure.hostError = hostError(in: thrown)
        return failure
    }

    private func describe(_ value: JavaScriptValue) -> String {
        var thrown: OpaquePointer?
        guard unsafe JSValueIsObject(context, value.raw) else { return text(of: value) ?? "a symbol" }
        guard let json = unsafe JSValueCreateJSONString(context, value.raw, 0, &thrown) else { return "an object" }
        return unsafe String(EngineString(taking: json).text.prefix(1_000))
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
        case .time: "it exceeded its time limit"
        case .memory: "it exceeded its memory limit"
        }
    }
}
