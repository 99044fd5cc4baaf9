import CJavaScriptCore
import Glibc

/// One context of JavaScriptCore, with limits on every call into it.
///
/// What it hands out as ``JavaScriptValue`` is kept alive by standing on the stack, as the collector looks there: whoever stores
/// one, holds it (``hold(_:)``). It is used by one thread at a time; ``PatchHost`` sees to that.
@safe final class JavaScriptEngine {
    let context: OpaquePointer
    let group: OpaquePointer
    let limits: EngineLimits
    let native: NativeClasses
    /// Values that nobody holds any more; other threads may add to them.
    let released = ReleasedValues()
    /// By object, what stands for it while scripts know it.
    var proxies: [ObjectIdentifier: WeakProxy] = [:]
    /// At how many of them those that are gone are looked for.
    var proxyMark = 1_024
    /// How many calls into it are on the stack.
    private(set) var depth = 0
    /// How many calls of functions are on the stack.
    var nesting = 0
    /// Says whose code threw a value.
    var blame: (JavaScriptValue) -> String? = { _ in nil }
    /// Says whose code was stopped.
    var stopped: (EngineLimits.Stop) -> String? = { _ in nil }
    /// Built-ins as they are before any script runs.
    private(set) lazy var functionPrototype = builtIn("Function.prototype")
    private(set) lazy var errorConstructor = builtIn("Error")
    private(set) lazy var typeErrorConstructor = builtIn("TypeError")

    init(limits: EngineLimits) {
        Self.setUp
        native = NativeClasses.shared
        self.limits = limits
        guard let group = unsafe JSContextGroupCreate(), let context = unsafe JSGlobalContextCreateInGroup(group, nil)
        else { fatalError("there is no memory for a JavaScript context") }
        unsafe self.group = group
        unsafe self.context = context
        unsafe limits.arm(group)
        _ = (functionPrototype, errorConstructor, typeErrorConstructor)
    }

    private func builtIn(_ name: String) -> HeldValue {
        do throws(JavaScriptException) {
            return hold(try evaluate(name, source: "built-in"))
        } catch { preconditionFailure("\(name) is there: \(error)") }
    }

    /// Before anything else is asked of the engine: a stop by signals ends the process where they are held back.
    private static let setUp: Void = { _ = unsafe setenv("JSC_usePollingTraps", "1", 1) }()

    deinit {
        for weak in proxies.values { unsafe JSWeakRelease(group, weak.raw) }
        unsafe JSGlobalContextRelease(context)
        unsafe JSContextGroupRelease(group)
    }

    /// Runs what calls into the context; the limits of the outermost call hold for those within it.
    func entered<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard depth == 0 else { return try body() }
        limits.begin()
        for value in released.taken() { unsafe JSValueUnprotect(context, value.raw) }
        depth += 1
        defer { depth -= 1 }
        return try body()
    }

    /// Keeps a value for longer than a call.
    func hold(_ value: JavaScriptValue) -> HeldValue {
        unsafe JSValueProtect(context, value.raw)
        return HeldValue(value, released: released)
    }

    /// Lets go of what no script can reach any more.
    func collectGarbage() {
        for value in released.taken() { unsafe JSValueUnprotect(context, value.raw) }
        unsafe JSSynchronousGarbageCollectForDebugging(context)
    }

    var global: JavaScriptValue {
        guard let object = unsafe JSContextGetGlobalObject(context) else {
            preconditionFailure("every context has one")
        }
        return unsafe JavaScriptValue(raw: object)
    }
}
