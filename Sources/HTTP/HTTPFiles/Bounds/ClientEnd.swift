import NIOConcurrencyHelpers
import NIOCore

/// Detects that a client has disconnected while no task reads from it or writes to it.
///
/// Used by tasks that wait for something else on a client's behalf: an upstream, or the next event.
final class ClientEnd: ChannelInboundHandler, Sendable {
    typealias InboundIn = ConnectionInput

    /// Which kind of end cancels the wait.
    enum Kind: Sendable {
        /// The client sends nothing more: it closed the connection, or its sending half. As in nginx, a client that half-closes
        /// during a stream is treated as gone.
        case input
        /// The connection is closed.
        case connection
    }

    private struct State {
        var hasEnded: Set<Kind> = []
        var waiting: [Int: (kind: Kind, end: AsyncStream<Never>.Continuation)] = [:]
        var nextWait = 0
    }

    private let state = NIOLockedValueBox(State())

    /// Runs `work`; its task is cancelled when the client ends.
    func cancelling<Result: Sendable>(
        at kind: Kind,
        _ work: @escaping @Sendable () async -> Result
    ) async -> Result {
        let (end, id) = wait(for: kind)
        defer { forget(id) }
        return await withTaskGroup(of: Result?.self) { group in
            group.addTask { await work() }
            group.addTask {
                for await _ in end {}
                return nil
            }
            while true {
                let first = await group.next() ?? nil
                group.cancelAll()
                if let first { return first }
            }
        }
    }

    private func wait(for kind: Kind) -> (AsyncStream<Never>, Int) {
        let (stream, end) = AsyncStream.makeStream(of: Never.self)
        let id = state.withLockedValue { state in
            state.nextWait += 1
            if state.hasEnded.contains(kind) { end.finish() }
            state.waiting[state.nextWait] = (kind, end)
            return state.nextWait
        }
        return (stream, id)
    }

    private func forget(_ id: Int) {
        state.withLockedValue { _ = $0.waiting.removeValue(forKey: id) }
    }

    private func ended(_ kinds: Set<Kind>) {
        let ends = state.withLockedValue { state in
            state.hasEnded.formUnion(kinds)
            return state.waiting.values.filter { kinds.contains($0.kind) }.map(\.end)
        }
        for end in ends { end.finish() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { ended([.input]) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended([.input, .connection])
        context.fireChannelInactive()
    }
}
