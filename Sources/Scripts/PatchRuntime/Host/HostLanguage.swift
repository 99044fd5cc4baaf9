import PatchLanguage

/// The functions of the patch language in a context.
struct HostLanguage {
    let begin: HeldValue
    let end: HeldValue
    let place: HeldValue
    let withdraw: HeldValue
    let blame: HeldValue
    let owner: HeldValue
    let reset: HeldValue
    let hostType: HeldValue
    let members: HeldValue
    let awaited: HeldValue
    let describe: HeldValue
    private let engine: JavaScriptEngine

    /// Installs the language before any script runs.
    init(_ engine: JavaScriptEngine, _ environment: JavaScriptValue) {
        func part(_ name: String, of language: JavaScriptValue) throws(JavaScriptException) -> HeldValue {
            engine.hold(try engine.property(name, of: language))
        }
        do throws(JavaScriptException) {
            let make = try engine.evaluate(PatchLanguage.text, source: JavaScriptException.language)
            let language = try engine.call(make, environment)
            begin = try part("begin", of: language)
            end = try part("end", of: language)
            place = try part("place", of: language)
            withdraw = try part("withdraw", of: language)
            blame = try part("blame", of: language)
            owner = try part("owner", of: language)
            reset = try part("reset", of: language)
            hostType = try part("hostType", of: language)
            members = try part("members", of: language)
            awaited = try part("awaited", of: language)
            describe = try part("describe", of: language)
        } catch { preconditionFailure("the patch language is a program: \(error)") }
        self.engine = engine
    }

    /// Calls a part of the language, which fails only if it is stopped.
    @discardableResult
    func run(_ part: KeyPath<HostLanguage, HeldValue>, _ arguments: JavaScriptValue...) -> JavaScriptValue? {
        try? engine.call(self[keyPath: part].value, count: arguments.count) { arguments[$0] }
    }

    /// Calls a part that returns a text.
    func text(_ part: KeyPath<HostLanguage, HeldValue>, _ arguments: JavaScriptValue...) -> String? {
        guard
            let value = try? engine.call(
                self[keyPath: part].value,
                count: arguments.count,
                argument: { arguments[$0] }
            ),
            !engine.isUndefined(value)
        else { return nil }
        return engine.text(of: value)
    }
}
