import CJavaScriptCore

/// The classes that Swift's functions and objects have in the engine.
struct NativeClasses {
    static let shared = NativeClasses()

    static func hostError(in object: JavaScriptValue) -> HostErrorBox? { nil }
}
