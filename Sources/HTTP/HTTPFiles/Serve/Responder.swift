import HTTPCore
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// Writes responses to one client, piece by piece.
///
/// Each piece is written when the previous one is sent.
struct Responder: Sendable {
    let channel: any Channel
    let client: ClientEnd
    let place: Connections.Place
    let group: ClientGroup
    let right: ClientAuthorization
    let server: RunningServer
    /// The pace of the client's reading, over all answers.
    private let pace: NIOLockedValueBox<Pace>

    var configuration: FileServerConfiguration { server.configuration }
    var exchange: Exchange { server.exchange }
    var connections: Connections { server.connections }
    private var losses: LossReport { server.losses }

    init(_ handover: ConnectionHandover, client: ClientEnd, of server: RunningServer) {
        channel = handover.channel
        place = handover.place
        group = handover.group
        right = handover.right
        self.server = server
        pace = NIOLockedValueBox(server.configuration.readingPace)
        self.client = client
    }

    /// The result of sending a response's body.
    private struct Sent: Sendable {
        /// Bytes that the kernel has accepted.
        var bytes = 0
        var isWhole = false
        /// The reason for a failure, or nil if the client caused it.
        var trouble: String?
    }

    /// The event that ends a stream before its source does.
    enum Watch: Sendable {
        case clientsEnd
        /// None here: the caller cancels the stream.
        case none
    }

    /// - Parameter onLoop: Whether the source of a stream only waits, see ``FileDecision/passing(_:)``.
    /// - Returns: False if the connection must be closed.
    func send(
        _ response: Response,
        to head: RequestHead?,
        keepAlive: Bool,
        since: ContinuousClock.Instant,
        onLoop: Bool = false,
        _ watch: Watch = .clientsEnd
    ) async -> Bool {
        let response = exchange.source.completing(response, to: head)
        let compatible = configuration.dialect.compatible
        let framing = response.framing(minorVersion: compatible == nil ? head?.minorVersion ?? 1 : 0)
        let keepAlive = keepAlive && framing != .connectionEnd && compatible == nil
        let start =
            compatible?.head(of: response, date: HTTPDate.now)
            ?? response.head(framing: framing, keepAlive: keepAlive, date: HTTPDate.now)
        let hasBody = head?.method != .HEAD && response.hasContent
        let sent: Sent
        if hasBody, case .stream(let stream) = response.body {
            sent = await send(stream, after: start, framing, onLoop: onLoop, watch)
        } else {
            sent = await send(ResponsePieces(head: start, body: hasBody ? response.body : .none))
        }
        if let trouble = sent.trouble {
            exchange.report(brokenAfter: sent.bytes, of: head?.target ?? "-", trouble)
        }
        log(response.status, sent.bytes, to: head, since: since)
        // After an incomplete response, only the end of the connection reports the failure to the client.
        return sent.isWhole && keepAlive
    }

    func log(_ status: HTTPResponseStatus, _ bytes: Int, to head: RequestHead?, since: ContinuousClock.Instant) {
        let duration = since.duration(to: .now)
        server.meter?.answered(head?.target ?? "-", status: Int(status.code), bodyBytes: bytes, in: duration)
        guard let accessLog = server.accessLog else { return }
        accessLog(
            AccessLogEntry(
                method: head?.method.rawValue ?? "-",
                target: head?.target ?? "-",
                status: Int(status.code),
                bodyBytes: bytes,
                duration: duration,
                remoteAddress: server.address(at: channel.remoteAddress?.ipAddress, head?.headers),
                userAgent: head?.headers.first(name: "User-Agent")
            )
        )
    }

    private func send(_ response: ResponsePieces) async -> Sent {
        var (pieces, sent) = (response, Sent())
        do throws(OpenFileError) {
            while let piece = try await pieces.next() {
                guard await write(piece) else { break }
                pieces.wasWritten()
            }
            sent.isWhole = pieces.isComplete
        } catch { sent.trouble = "\(error)" }
        sent.bytes = pieces.writtenBodyBytes
        return sent
    }

    /// How long a head waits for the first bytes of the body, to be sent with them.
    private static let headTime = TimeAmount.microseconds(500)

    private func send(
        _ stream: ServedStream,
        after head: ByteBuffer,
        _ framing: Response.Framing,
        onLoop: Bool,
        _ watch: Watch
    ) async -> Sent {
        // A server that stops meanwhile does not wait for an endless answer.
        if stream.isEndless {
            guard connections.becomesEndless(place, right) == .granted else { return Sent() }
        }
        let sending: @Sendable () async -> Sent = { [self] in
            onLoop
                ? await send(stream, behind: head, framing)
                : await offLoop { await send(stream, behind: head, framing) }
        }
        return switch watch {
        case .clientsEnd: await client.cancelling(at: .input, sending)
        case .none: await sending()
        }
    }

    private func send(_ stream: ServedStream, behind head: ByteBuffer, _ framing: Response.Framing) async -> Sent {
        var sent = Sent()
        channel.write(head, flushedWithin: Self.headTime)
        let taken = NIOLockedValueBox((bytes: 0, isAll: true))
        do {
            try await stream.send { piece throws(ClientDisconnected) in
                let fits = taken.withLockedValue { taken in
                    taken.isAll && taken.bytes + piece.readableBytes <= stream.length ?? .max
                }
                let isTaken = fits ? await write(piece, framing) : false
                taken.withLockedValue { taken in
                    taken.isAll = isTaken
                    if isTaken { taken.bytes += piece.readableBytes }
                }
                guard isTaken else { throw ClientDisconnected() }
            }
            let (bytes, isTaken) = taken.withLockedValue(\.self)
            let isAll = isTaken && !Task.isCancelled && bytes == stream.length ?? bytes
            if isTaken, !isAll, !Task.isCancelled, channel.isActive {
                sent.trouble = "the stream does not have its declared length"
            }
            if isAll { sent.isWhole = await end(framing, afterNothing: bytes == 0) }
        } catch is ClientDisconnected {
        } catch is CancellationError {
        } catch { sent.trouble = "\(error)" }
        // The connection ends: its client should receive the broken part instead of an empty reply.
        if !sent.isWhole { channel.flush() }
        sent.bytes = taken.withLockedValue(\.bytes)
        return sent
    }

    /// Writes a piece in parts, each with a time limit of ``FileServerConfiguration/writeTimeout``.
    private func write(_ piece: ByteBuffer, _ framing: Response.Framing) async -> Bool {
        var rest = piece
        while let part = rest.readSlice(length: min(rest.readableBytes, ResponsePieces.size)), part.readableBytes > 0 {
            guard await write(framing == .chunked ? part.asChunk : part) else { return false }
        }
        return true
    }

    /// Ends the body.
    ///
    /// Once the kernel has the bytes written last, it has the head, too.
    private func end(_ framing: Response.Framing, afterNothing: Bool) async -> Bool {
        if framing == .chunked { return await write(ByteBuffer(string: "0\r\n\r\n")) }
        return afterNothing ? await write(ByteBuffer()) : true
    }

    /// Wakes the task that reads the connection, which then checks its wait.
    func wakeReader() {
        ReaderWake.fire(channel)
    }

    /// Returns when the kernel has accepted all of `bytes`.
    ///
    /// Returns false if it never will.
    func write(_ bytes: ByteBuffer) async -> Bool {
        let deadline = Deadline(in: pace.withLockedValue(\.left), .closing, channel)
        defer { deadline.cancel() }
        let since = ContinuousClock.now
        do {
            try await channel.writeAndFlush(bytes)
            pace.withLockedValue { $0.moved(bytes.readableBytes, in: since.duration(to: .now)) }
            return true
        } catch {
            if deadline.hasExpired { losses.add(.slow, of: group, on: channel.eventLoop) }
            return false
        }
    }
}

extension Channel {
    /// Writes `bytes` without a flush, and flushes them after `time` at the latest.
    ///
    /// Later writes, by the same thread or by tasks that it starts, are sent after them.
    func write(_ bytes: ByteBuffer, flushedWithin time: TimeAmount) {
        // One task does both. A late loop runs due tasks and submitted tasks alternately, so a flush of its own could run before
        // the write.
        let work: @Sendable () -> Void = { [self] in
            write(bytes, promise: nil)
            eventLoop.scheduleTask(in: time) { [self] in flush() }
        }
        if eventLoop.inEventLoop { work() } else { eventLoop.execute(work) }
    }
}

extension ByteBuffer {
    /// The chunk of RFC 9112 §7.1.
    ///
    /// Must not be empty, because an empty chunk ends the body.
    fileprivate var asChunk: ByteBuffer {
        let size = String(readableBytes, radix: 16)
        var chunk = ByteBuffer()
        chunk.reserveCapacity(minimumWritableBytes: readableBytes + size.utf8.count + 4)
        chunk.writeString("\(size)\r\n")
        chunk.writeImmutableBuffer(self)
        chunk.writeString("\r\n")
        return chunk
    }
}
