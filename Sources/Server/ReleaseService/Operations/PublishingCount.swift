import NIOConcurrencyHelpers

/// Counts the releases that a process is publishing.
final class PublishingCount: Sendable {
    private let count = NIOLockedValueBox(0)
    /// Nudged after each change by this process.
    let ended = Nudge()

    var isActive: Bool { count.withLockedValue { $0 > 0 } }

    func begin() { count.withLockedValue { $0 += 1 } }
    func end() {
        count.withLockedValue { $0 -= 1 }
        ended.nudge()
    }
}

/// Lets one task wait for another, up to a time.
final class Nudge: Sendable {
    private struct State {
        /// A nudge received while no task waited.
        var isPending = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = NIOLockedValueBox(State())

    func nudge() {
        let waiting = state.withLockedValue { state -> CheckedContinuation<Void, Never>? in
            state.isPending = state.waiting == nil
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Returns after a nudge, after the time, or when the task is cancelled.
    ///
    /// One task waits at a time.
    func wait(atMost time: Duration) async {
        let timer = Task {
            try? await Task.sleep(for: time, clock: .continuous)
            if !Task.isCancelled { nudge() }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLockedValue { state in
                    guard !state.isPending, !Task.isCancelled else {
                        state.isPending = false
                        return true
                    }
                    state.waiting = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            nudge()
        }
        timer.cancel()
    }
}
