import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PatchFormat

/// Server-sent events for one listener (HTML, "Server-sent events").
///
/// It holds nothing for a listener that reads slowly: whoever falls behind all that the log keeps is told how much they missed,
/// and the stream ends.
struct EventStream: Sendable {
    private let log: EventLog
    private let store: String?
    private let position: Int
    private let beat: Duration
    private let user: UInt32?

    /// - Parameters:
    ///   - store: nil for all.
    ///   - user: of the listener, as ``FileRequest/user``.
    ///   - id: the last event that the listener had.
    ///   - beat: how often a comment shows that somebody is there.
    init(_ log: EventLog, of store: String?, after id: String?, beat: Duration, user: UInt32? = nil) {
        (self.log, self.store, self.beat, self.user) = (log, store, beat, user)
        position = log.position(after: id)
    }

    var served: ServedStream {
        ServedStream(
            headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store"],
            isEndless: true
        ) { write in try await send(write) }
    }

    func send(_ write: @escaping ServedStream.Write) async throws {
        // Before anything is read from the log, so that nothing falls between the two.
        let wakes = log.wakes(for: user)
        try await write(ByteBuffer(string: "retry: 1000\n\n"))
        var position = position
        guard try await tell(after: &position, write) else { return }
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
                guard try await tell(after: &position, write) else { return }
                // A tick of the clock may stand in place of one that told of news.
                if position == before, !isPushedOut.withLockedValue(\.self) {
                    try await write(ByteBuffer(string: ":\n\n"))
                }
            }
            guard isPushedOut.withLockedValue(\.self), try await tell(after: &position, write) else { return }
            try await write(Self.missed(0))
        }
    }

    /// - Returns: false where the stream ends, for the listener is too far behind.
    private func tell(after position: inout Int, _ write: ServedStream.Write) async throws(ClientGone) -> Bool {
        while true {
            switch log.news(after: position) {
            case .missed(let count):
                try await write(Self.missed(count))
                return false
            case .events(let entries):
                guard let last = entries.last else { return true }
                var text = ByteBuffer()
                for entry in entries.prefix(Self.piece) where store == nil || entry.store == store {
                    text.writeBytes(Array("id: \(log.id(entry.number))\n".utf8) + Self.text(entry.name, entry.line))
                }
                position = entries.prefix(Self.piece).last?.number ?? last.number
                if text.readableBytes > 0 { try await write(text) }
            }
        }
    }

    /// Events in one write.
    private static let piece = 32

    private static func missed(_ count: Int) -> ByteBuffer {
        ByteBuffer(bytes: text("missed", Array("{\"missed\":\(count)}".utf8)))
    }

    private static func text(_ name: String, _ line: [UInt8]) -> [UInt8] {
        Array("event: \(name)\ndata: ".utf8) + line + Array("\n\n".utf8)
    }
}
