/// A value of a context, for as long as it stands on the stack.
@safe struct JavaScriptValue {
    let raw: OpaquePointer
}

/// What finds an object of the engine until it is collected.
@safe struct WeakProxy {
    let raw: OpaquePointer
}

/// A value that the collector leaves alone until this is gone.
@safe final class HeldValue: @unchecked Sendable {
    // Sendable: it is a name, and used by whoever has the engine's lock alone.
    let value: JavaScriptValue
    private let released: ReleasedValues

    init(_ value: JavaScriptValue, released: ReleasedValues) {
        self.value = value
        self.released = released
    }

    deinit { released.add(value) }
}

/// Values that were held and are so no more: the engine lets go of them at its next call, for they end on any thread.
final class ReleasedValues: @unchecked Sendable {
    // Sendable: `values` is used under the lock alone, and values are names until the engine takes them.
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
