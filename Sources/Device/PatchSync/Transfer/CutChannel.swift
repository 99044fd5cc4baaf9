import NIOConcurrencyHelpers

/// From one task that cuts a pack to one that writes: whoever is ahead waits.
final class CutChannel: Sendable {
    /// Pieces that may wait: some 128 KiB each.
    private static let capacity = 4

    private struct State {
        var waiting: [[PackCutter.Cut]] = []
        var isOver = false
        var sender: CheckedContinuation<Void, Never>?
        var taker: CheckedContinuation<Void, Never>?
        var isFull: Bool { waiting.count >= CutChannel.capacity }
    }

    private let state = NIOLockedValueBox(State())

    /// - Returns: false when the channel is over: nothing was sent.
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

    /// The next cuts; nil when the channel is over, and empty.
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

    /// Nothing more is sent; what waits is still taken.
    func end() {
        let (sender, taker) = state.withLockedValue { state in
            state.isOver = true
            defer { (state.sender, state.taker) = (nil, nil) }
            return (state.sender, state.taker)
        }
        sender?.resume()
        taker?.resume()
    }

    /// - Parameter keep: keeps the continuation for whoever ends the wait; false where there is nothing to wait for.
    private func wait(_ keep: (inout State, CheckedContinuation<Void, Never>) -> Bool) async {
        await withCheckedContinuation { continuation in
            if !state.withLockedValue({ keep(&$0, continuation) }) { continuation.resume() }
        }
    }
}
