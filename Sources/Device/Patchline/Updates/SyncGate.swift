import NIOConcurrencyHelpers
import PatchFetch
package import PatchSync

/// The gate to the network for a running app's own work: its syncs, and its checks for parameters.
///
/// It is closed while the launch of an undecided trial counts. If a server's response ends the process, this cannot be mistaken for
/// a fault of the version on trial. Work in progress is then stopped, and restarted once the gate is open.
package final class SyncGate: Sendable {
    private typealias Signal = AsyncStream<Never>.Continuation

    private struct State {
        var isClosed = false
        /// Signalled when the gate opens.
        var waiting: [Signal] = []
        /// Signalled when the gate closes.
        var underWay: [Int: Signal] = [:]
        /// Signalled when no work is in progress.
        var watching: [Signal] = []
        var last = 0
    }

    private let state = NIOLockedValueBox(State())
    private let sleep: @Sendable (Duration) async throws -> Void

    package init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        self.sleep = sleep
    }

    package var isClosed: Bool { state.withLockedValue(\.isClosed) }

    /// Closes the gate: no work begins, and work in progress is signalled to end.
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

    /// Closes the gate.
    ///
    /// Returns once no work is in progress, or after `patience`.
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

    /// Runs `work` while the gate is open.
    ///
    /// Restarts it if the gate closes in the meantime.
    ///
    /// - Throws: `fetch(.cancelled)` if this task is cancelled.
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

    /// Returns nil if the work was stopped.
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
                    // If this task itself was cancelled, every wait ends, which does not mean that the gate closed.
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
