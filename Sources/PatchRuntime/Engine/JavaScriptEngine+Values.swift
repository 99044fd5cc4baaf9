import CJavaScriptCore

extension JavaScriptEngine {
    /// A value as its text, where it has one.
    func text(of value: JavaScriptValue) -> String? {
        var thrown: OpaquePointer?
        guard let text = unsafe JSValueToStringCopy(context, value.raw, &thrown), unsafe thrown == nil else {
            return nil
        }
        return unsafe EngineString(taking: text).text
    }
}
