import CJavaScriptCore

extension JavaScriptEngine {
    private static let hostErrorName = "hostError"

    func nativeFunction(_ body: @escaping NativeFunction.Body) -> JavaScriptValue {
        let box = unsafe Unmanaged.passRetained(NativeFunction(engine: self, body)).toOpaque()
        guard let object = unsafe JSObjectMake(context, native.function, box) else {
            fatalError("there is no memory for a function")
        }
        unsafe JSObjectSetPrototype(context, object, functionPrototype.value.raw)
        return unsafe JavaScriptValue(raw: object)
    }

    /// Makes a promise and the functions that resolve and reject it.
    func makePromise() -> (promise: JavaScriptValue, take: JavaScriptValue, refuse: JavaScriptValue) {
        var (take, refuse): (OpaquePointer?, OpaquePointer?) = (nil, nil)
        guard let promise = unsafe JSObjectMakeDeferredPromise(context, &take, &refuse, nil), let take = unsafe take,
            let refuse = unsafe refuse
        else { fatalError("there is no memory for a promise") }
        return unsafe (JavaScriptValue(raw: promise), JavaScriptValue(raw: take), JavaScriptValue(raw: refuse))
    }

    /// Calls `take` with the reason of each unhandled promise rejection.
    func watchRejections(_ take: @escaping (JavaScriptValue) -> Void) {
        let function = nativeFunction { [unowned self] _, given in
            if let reason = given[1] { take(reason) }
            return undefined
        }
        unsafe JSGlobalContextSetUnhandledRejectionCallback(context, function.raw, nil)
    }

    /// The script object that represents a host object.
    ///
    /// It is the same one as long as a script refers to it.
    func proxy(for object: any AnyObject & Sendable, prototype: JavaScriptValue?) -> JavaScriptValue {
        let key = ObjectIdentifier(object)
        if let known = proxies[key] {
            if let found = unsafe JSWeakGetObject(known.raw) { return unsafe JavaScriptValue(raw: found) }
            unsafe JSWeakRelease(group, known.raw)
        }
        let box = unsafe Unmanaged.passRetained(HostObjectBox(object)).toOpaque()
        guard let made = unsafe JSObjectMake(context, native.object, box), let weak = unsafe JSWeakCreate(group, made)
        else { fatalError("there is no memory for an object") }
        if let prototype { unsafe JSObjectSetPrototype(context, made, prototype.raw) }
        proxies[key] = unsafe WeakProxy(raw: weak)
        if proxies.count >= proxyMark { forgetDeadProxies() }
        return unsafe JavaScriptValue(raw: made)
    }

    private func forgetDeadProxies() {
        for (key, weak) in proxies {
            guard unsafe JSWeakGetObject(weak.raw) == nil else { continue }
            unsafe JSWeakRelease(group, weak.raw)
            proxies[key] = nil
        }
        proxyMark = max(1_024, 2 * proxies.count)
    }

    /// The host object that a script value represents.
    func hostObject(_ value: JavaScriptValue) -> (any AnyObject & Sendable)? {
        guard unsafe JSValueIsObjectOfClass(context, value.raw, native.object),
            let box = unsafe JSObjectGetPrivate(value.raw)
        else { return nil }
        return unsafe Unmanaged<HostObjectBox>.fromOpaque(box).takeUnretainedValue().object
    }

    /// Converts a Swift error into an error for scripts.
    ///
    /// If it returns to Swift, it becomes the original error again.
    func errorObject(for error: any Error) -> JavaScriptValue {
        let exception = error as? JavaScriptException
        let cause = exception?.hostError ?? HostErrorBox(error)
        let message = EngineString(exception?.message ?? String(String(describing: error).prefix(2_000)))
        guard var text = unsafe JSValueMakeString(context, message.raw) else {
            fatalError("there is no memory for a text")
        }
        let constructor = error is PatchMisuse ? typeErrorConstructor : errorConstructor
        var made: OpaquePointer?
        unsafe withUnsafeMutablePointer(to: &text) {
            unsafe $0.withMemoryRebound(to: OpaquePointer?.self, capacity: 1) {
                unsafe made = JSObjectCallAsConstructor(context, constructor.value.raw, 1, $0, nil)
            }
        }
        guard let object = unsafe made else { return unsafe JavaScriptValue(raw: text) }
        if !(error is PatchMisuse), exception == nil || exception?.hostError != nil {
            let box = unsafe Unmanaged.passRetained(cause).toOpaque()
            let name = EngineString(Self.hostErrorName)
            if let holder = unsafe JSObjectMake(context, native.error, box) {
                unsafe JSObjectSetProperty(
                    context,
                    object,
                    name.raw,
                    holder,
                    JSPropertyAttributes(kJSPropertyAttributeDontEnum),
                    nil
                )
            }
        }
        return unsafe JavaScriptValue(raw: object)
    }

    /// The Swift error in an error that a script threw.
    func hostError(in object: JavaScriptValue) -> HostErrorBox? {
        let name = EngineString(Self.hostErrorName)
        guard let value = unsafe JSObjectGetProperty(context, object.raw, name.raw, nil),
            unsafe JSValueIsObjectOfClass(context, value, native.error), let box = unsafe JSObjectGetPrivate(value)
        else { return nil }
        return unsafe Unmanaged<HostErrorBox>.fromOpaque(box).takeUnretainedValue()
    }
}

/// An invalid use of the host by a script.
///
/// The script receives it as a `TypeError`.
struct PatchMisuse: Error, Equatable, CustomStringConvertible {
    let description: String
}
