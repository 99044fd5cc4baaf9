import NIOConcurrencyHelpers
import PatchFetch
package import PatchSync

/// The one gate to the network for a running app's own work: its syncs, and its looks for parameters.
///
/// It is closed while an undecided trial counts, so that no answer of a server that ends the process can be taken for a
/// fault of the version on trial. Work in progress is then stopped, and begun again once the gate is open.
package final class SyncGate: Sendable {
    private typealias Signal = AsyncStream<Never>.Continuation

    private struct State {
        var isClosed = false
        /// Signalled when it opens.
        var waiting: [Signal] = []
        /// Signalled when it closes.
        var underWay: [Int: Signal] = [:]
        /// Signalled when no work is in progress any more.
        var watching: [Signal] = []
        var last = 0
    }

    private let state = NIOLockedValueBox(State())
    private let sleep: @Sendable (Duration) async throws -> Void

    package init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        self.sleep = sleep
    }

    package var isClosed: Bool { state.withLockedValue(\.isClosed) }

    /// Begins nothing new, and signals work in progress to end.
    package func close() {
        let signals = state.withLockedValue { state in
            state.isClosed = true
            return Array(state.underWay.values)
        }
        for signal in signals { signal.finish() }
    }

    package func open() {
        let signals = state.withLockedValue { state in
            state.isClosed = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for signal in signals { signal.finish() }
    }

    /// Closes, and returns once no work is in progress, or after `patience`.
    package func close(waitingUpTo patience: Duration) async {
        close()
        let (ending, signal) = AsyncStream.makeStream(of: Never.self)
        let isQuiet = state.withLockedValue { state in
            guard !state.underWay.isEmpty else { return true }
            state.watching.append(signal)
            return false
        }
        guard !isQuiet else { return }
        await withTaskGroup(of: Void.self) { [sleep] group in
            group.addTask { for await _ in ending {} }
            group.addTask { try? await sleep(patience) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Does `work` while the gate is open; from its beginning, if it closed meanwhile.
    ///
    /// - Throws: `fetch(.cancelled)` when this very task is cancelled.
    package func through<Result: Sendable>(
        _ work: @escaping @Sendable () async throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        while true {
            let (closing, signal) = AsyncStream.makeStream(of: Never.self)
            guard let number = begin(signal) else {
                await untilOpen()
                if Task.isCancelled { throw .fetch(.cancelled) }
                continue
            }
            let outcome = await Self.outcome(of: work, until: closing)
            end(number)
            if let outcome { return try outcome.get() }
        }
    }

    private func begin(_ signal: Signal) -> Int? {
        state.withLockedValue { state in
            guard !state.isClosed else { return nil }
            state.last += 1
            state.underWay[state.last] = signal
            return state.last
        }
    }

    private func end(_ number: Int) {
        let signals = state.withLockedValue { state in
            state.underWay[number] = nil
            guard state.underWay.isEmpty else { return [Signal]() }
            defer { state.watching = [] }
            return state.watching
        }
        for signal in signals { signal.finish() }
    }

    private func untilOpen() async {
        let (opening, signal) = AsyncStream.makeStream(of: Never.self)
        let isOpen = state.withLockedValue { state in
            guard state.isClosed else { return true }
            state.waiting.append(signal)
            return false
        }
        if !isOpen { for await _ in opening {} }
    }

    /// Nil when it was stopped.
    private static func outcome<Result: Sendable>(
        of work: @escaping @Sendable () async throws(SyncError) -> Result,
        until closing: AsyncStream<Never>
    ) async -> Swift.Result<Result, SyncError>? {
        typealias Outcome = Swift.Result<Result, SyncError>
        return await withTaskGroup(of: Outcome?.self) { group in
            group.addTask {
                do throws(SyncError) { return Outcome.success(try await work()) } catch { return .failure(error) }
            }
            group.addTask {
                for await _ in closing {}
                return nil
            }
            var isBrokenOff = false
            for await outcome in group {
                group.cancelAll()
                guard let outcome else {
                    // Not when this very task was cancelled, which ends every wait.
                    isBrokenOff = !Task.isCancelled
                    continue
                }
                if isBrokenOff, case .failure(.fetch(.cancelled)) = outcome { return nil }
                return outcome
            }
            return .failure(.fetch(.cancelled))
        }
    }
}
