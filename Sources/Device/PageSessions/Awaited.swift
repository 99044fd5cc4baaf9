import NIOConcurrencyHelpers

/// A value that is set once, for any number of waiting tasks.
final class Awaited<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let state = NIOLockedValueBox(State())

    var now: Value? { state.withLockedValue(\.value) }

    /// Sets the value, unless it was set before.
    func set(_ value: Value) {
        let waiting = state.withLockedValue { state in
            if state.value == nil { state.value = value }
            defer { state.waiting = [] }
            return state.waiting
        }
        for signal in waiting { signal.finish() }
    }

    /// Waits for the value, and returns nil if the task is cancelled first.
    func value() async -> Value? {
        let (stream, signal) = AsyncStream.makeStream(of: Never.self)
        let exists = state.withLockedValue { state in
            if state.value == nil { state.waiting.append(signal) }
            return state.value != nil
        }
        if !exists { for await _ in stream {} }
        return now
    }
}
