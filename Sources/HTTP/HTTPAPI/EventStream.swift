package import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// Server-sent events for one listener (HTML, "Server-sent events").
///
/// Nothing is stored for a listener that reads slowly. A listener that falls behind all kept events receives the number of the
/// events that it missed, and the stream ends.
package struct EventStream: Sendable {
    private let hub: EventHub
    private let topic: String?
    private let position: Int
    private let beat: Duration
    private let user: UInt32?

    /// - Parameters:
    ///   - topic: The topic of the events, or nil for all.
    ///   - id: The last event that the listener received.
    ///   - beat: The time between comments, which show that the connection is alive.
    ///   - user: The listener's user, as ``FileRequest/user``.
    package init(_ hub: EventHub, of topic: String?, after id: String?, beat: Duration, user: UInt32? = nil) {
        (self.hub, self.topic, self.beat, self.user) = (hub, topic, beat, user)
        position = hub.position(after: id)
    }

    package var served: ServedStream {
        ServedStream(
            headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store"],
            isEndless: true
        ) { write in try await send(write) }
    }

    package func send(_ write: @escaping ServedStream.Write) async throws {
        // Registered before the first events are read, so that no event is missed in between.
        let wakes = hub.wakes(for: user)
        try await write(ByteBuffer(string: "retry: 1000\n\n"))
        var position = position
        guard try await sendPending(after: &position, write) else { return }
        let isPushedOut = NIOLockedValueBox(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (ticks, tick) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            group.addTask {
                for await wake in wakes {
                    if wake == .end { isPushedOut.withLockedValue { $0 = true } }
                    tick.yield()
                }
                tick.finish()
            }
            group.addTask { [beat] in
                while (try? await Task.sleep(for: beat)) != nil { tick.yield() }
            }
            defer { group.cancelAll() }
            for await _ in ticks {
                let before = position
                guard try await sendPending(after: &position, write) else { return }
                // A tick of the beat may replace one for news, so the position decides.
                if position == before, !isPushedOut.withLockedValue(\.self) {
                    try await write(ByteBuffer(string: ":\n\n"))
                }
            }
            guard isPushedOut.withLockedValue(\.self), try await sendPending(after: &position, write) else { return }
            try await write(Self.missed(0))
        }
    }

    /// - Returns: False if the listener is too far behind, which ends the stream.
    private func sendPending(after position: inout Int, _ write: ServedStream.Write) async throws(ClientDisconnected)
        -> Bool
    {
        while true {
            switch hub.news(after: position) {
            case .missed(let count):
                try await write(Self.missed(count))
                return false
            case .events(let entries):
                guard let last = entries.last else { return true }
                var text = ByteBuffer()
                for entry in entries.prefix(Self.piece) where topic == nil || entry.event.topic == topic {
                    text.writeBytes(
                        Array("id: \(hub.id(entry.number))\n".utf8) + Self.text(entry.event.name, entry.event.line)
                    )
                }
                position = entries.prefix(Self.piece).last?.number ?? last.number
                if text.readableBytes > 0 { try await write(text) }
            }
        }
    }

    /// The most events in one write.
    private static let piece = 32

    private static func missed(_ count: Int) -> ByteBuffer {
        ByteBuffer(bytes: text("missed", Array("{\"missed\":\(count)}".utf8)))
    }

    private static func text(_ name: String, _ line: [UInt8]) -> [UInt8] {
        Array("event: \(name)\ndata: ".utf8) + line + Array("\n\n".utf8)
    }
}
