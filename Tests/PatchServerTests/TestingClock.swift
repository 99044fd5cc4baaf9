import NIOConcurrencyHelpers

/// A clock whose sleepers wake when a test says so, and that tells the test who sleeps.
final class TestingClock: Clock {
    struct Instant: InstantProtocol {
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: CheckedContinuation<Void, any Error>] = [:]
        var count = 0
    }

    private let state = NIOLockedValueBox(State())
    private let slept: AsyncStream<Duration>.Continuation
    /// How long each sleep was to be, in order.
    let sleeps: AsyncStream<Duration>

    init() {
        (sleeps, slept) = AsyncStream.makeStream(of: Duration.self)
    }

    var now: Instant { state.withLockedValue { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLockedValue { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let left = state.withLockedValue { state in
                    state.sleepers[id] = continuation
                    return state.now.duration(to: deadline)
                }
                if Task.isCancelled { wake(id, throwing: CancellationError()) }
                slept.yield(left)
            }
        } onCancel: {
            wake(id, throwing: CancellationError())
        }
    }

    /// Ends the sleep of whoever sleeps, as if its time had passed.
    func wakeAll() {
        let sleepers = state.withLockedValue { state in
            defer { state.sleepers = [:] }
            return state.sleepers.values
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    private func wake(_ id: Int, throwing error: any Error) {
        state.withLockedValue { $0.sleepers.removeValue(forKey: id) }?.resume(throwing: error)
    }
}
