import NIOConcurrencyHelpers

/// A channel from the task that cuts a pack to one that writes.
///
/// The faster one waits.
final class CutChannel: Sendable {
    /// The number of pieces that may be queued, of about 128 KiB each.
    private static let capacity = 4

    private struct State {
        var waiting: [[PackCutter.Cut]] = []
        var isOver = false
        var sender: CheckedContinuation<Void, Never>?
        var taker: CheckedContinuation<Void, Never>?
        var isFull: Bool { waiting.count >= CutChannel.capacity }
    }

    private let state = NIOLockedValueBox(State())

    /// - Returns: false if the channel has ended, so that the cuts were not sent.
    func send(_ cuts: [PackCutter.Cut]) async -> Bool {
        await wait { state, continuation in
            guard state.isFull, !state.isOver else { return false }
            state.sender = continuation
            return true
        }
        let (isOver, taker) = state.withLockedValue { state in
            guard !state.isOver else { return (true, nil as CheckedContinuation<Void, Never>?) }
            state.waiting.append(cuts)
            defer { state.taker = nil }
            return (false, state.taker)
        }
        taker?.resume()
        return !isOver
    }

    /// The next cuts, or nil if the channel has ended and is empty.
    func next() async -> [PackCutter.Cut]? {
        await wait { state, continuation in
            guard state.waiting.isEmpty, !state.isOver else { return false }
            state.taker = continuation
            return true
        }
        let (cuts, sender) = state.withLockedValue { state in
            defer { state.sender = nil }
            return (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.sender)
        }
        sender?.resume()
        return cuts
    }

    /// Ends the channel.
    ///
    /// Queued cuts can still be received.
    func end() {
        let (sender, taker) = state.withLockedValue { state in
            state.isOver = true
            defer { (state.sender, state.taker) = (nil, nil) }
            return (state.sender, state.taker)
        }
        sender?.resume()
        taker?.resume()
    }

    /// - Parameter keep: Stores the continuation, which is resumed when the wait ends. Returns false if no wait is needed.
    private func wait(_ keep: (inout State, CheckedContinuation<Void, Never>) -> Bool) async {
        await withCheckedContinuation { continuation in
            if !state.withLockedValue({ keep(&$0, continuation) }) { continuation.resume() }
        }
    }
}
