/// A value of a context, valid as long as it is on the stack.
@safe struct JavaScriptValue {
    let raw: OpaquePointer
}

/// A weak reference to a script object.
@safe struct WeakProxy {
    let raw: OpaquePointer
}

/// A reference that protects a value from the garbage collector.
@safe final class HeldValue: @unchecked Sendable {
    // Sendable: it is a reference that is only used under the engine's lock.
    let value: JavaScriptValue
    private let released: ReleasedValues

    init(_ value: JavaScriptValue, released: ReleasedValues) {
        self.value = value
        self.released = released
    }

    deinit { released.add(value) }
}

/// Values that are no longer held.
///
/// A holder may end on any thread, so the engine releases them at its next call.
final class ReleasedValues: @unchecked Sendable {
    // Sendable: `values` is used only under the lock, and a value is only a reference until the engine takes it.
    private let lock = RecursiveLock()
    private var values: [JavaScriptValue] = []

    func add(_ value: JavaScriptValue) {
        lock.withLock { values.append(value) }
    }

    func taken() -> [JavaScriptValue] {
        lock.withLock {
            guard !values.isEmpty else { return [] }
            defer { values = [] }
            return values
        }
    }
}
