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
