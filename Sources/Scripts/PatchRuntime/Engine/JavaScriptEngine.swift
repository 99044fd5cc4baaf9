import CJavaScriptCore
import Glibc

/// One JavaScriptCore context, with limits on every call into it.
///
/// A ``JavaScriptValue`` is kept alive by its position on the stack, which the garbage collector searches. To store a value, hold
/// it with ``hold(_:)``. Only one thread at a time may use an engine, which ``PatchHost`` ensures.
@safe final class JavaScriptEngine {
    let context: OpaquePointer
    let group: OpaquePointer
    let limits: EngineLimits
    let native: NativeClasses
    /// Values that are no longer held.
    ///
    /// Other threads may add to them.
    let released = ReleasedValues()
    /// The script objects of host objects, as long as scripts refer to them.
    var proxies: [ObjectIdentifier: WeakProxy] = [:]
    /// The number of proxies at which collected ones are removed.
    var proxyMark = 1_024
    /// The number of calls into the engine on the stack.
    private(set) var depth = 0
    /// The number of function calls on the stack.
    var nesting = 0
    /// Returns the patch whose code threw a value.
    var blame: (JavaScriptValue) -> String? = { _ in nil }
    /// Returns the patch whose code was stopped.
    var stopped: (EngineLimits.Stop) -> String? = { _ in nil }
    /// Built-ins as they were before any script ran.
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

    /// Runs before the first use of the engine.
    ///
    /// Otherwise it stops scripts with signals, which ends a process that blocks them.
    private static let setUp: Void = { _ = unsafe setenv("JSC_usePollingTraps", "1", 1) }()

    deinit {
        for weak in proxies.values { unsafe JSWeakRelease(group, weak.raw) }
        unsafe JSGlobalContextRelease(context)
        unsafe JSContextGroupRelease(group)
    }

    /// Runs calls into the context; the limits of the outermost call include the calls within it.
    func entered<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard depth == 0 else { return try body() }
        limits.begin()
        for value in released.taken() { unsafe JSValueUnprotect(context, value.raw) }
        depth += 1
        defer { depth -= 1 }
        return try body()
    }

    /// Keeps a value alive beyond a call.
    func hold(_ value: JavaScriptValue) -> HeldValue {
        unsafe JSValueProtect(context, value.raw)
        return HeldValue(value, released: released)
    }

    /// Releases all values that scripts can no longer reach.
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
