import NIOConcurrencyHelpers
import PageDiff

/// A queue of jobs with a limit on how many run at a time.
final class LinkQueue: Sendable {
    private struct State {
        var running = 0
        var waiting: [LivePageProxy.Job] = []
    }

    private static let maxWaiting = 300
    private let state = NIOLockedValueBox(State())

    /// The job if it may run now, or nil if it was queued.
    ///
    /// A job is dropped if the queue is full.
    func added(_ job: @escaping LivePageProxy.Job) -> LivePageProxy.Job? {
        state.withLockedValue { state in
            guard state.running < PageLimits.parallelLinks else {
                if state.waiting.count < Self.maxWaiting { state.waiting.append(job) }
                return nil
            }
            state.running += 1
            return { await self.run(job) }
        }
    }

    private func run(_ first: @escaping LivePageProxy.Job) async {
        var job: LivePageProxy.Job? = first
        while let next = job {
            await next()
            job = state.withLockedValue { state in
                if state.waiting.isEmpty {
                    state.running -= 1
                    return nil
                }
                return state.waiting.removeFirst()
            }
        }
    }
}
