import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// Writes responses to one client, piece by piece, each when the one before is gone.
struct Responder: Sendable {
    let channel: any Channel
    let client: ClientEnd
    let place: Connections.Place
    let group: ClientGroup
    let right: ShownRight
    let server: RunningServer
    /// Of the client's reading, over all answers.
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

    /// What became of a response's body.
    private struct Sent: Sendable {
        /// Bytes that the kernel has taken.
        var bytes = 0
        var isWhole = false
        /// In words; nil when the client is the reason.
        var trouble: String?
    }

    /// What ends a stream beside its source.
    enum Watch: Sendable {
        case clientsEnd
        /// Whoever sends it cancels this.
        case none
    }

    /// - Parameter onLoop: whether the source of a stream only waits, see ``FileDecision/passing(_:)``.
    /// - Returns: false when the connection is of no more use.
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
        // After a response that stops in the middle, only the connection's end tells the client so.
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

    /// How long a head waits for the first bytes after it, to go with them.
    private static let headTime = TimeAmount.microseconds(500)

    private func send(
        _ stream: ServedStream,
        after head: ByteBuffer,
        _ framing: Response.Framing,
        onLoop: Bool,
        _ watch: Watch
    ) async -> Sent {
        // A server that stops meanwhile need not wait for what never ends.
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
            try await stream.send { piece throws(ClientGone) in
                let fits = taken.withLockedValue { taken in
                    taken.isAll && taken.bytes + piece.readableBytes <= stream.length ?? .max
                }
                let isTaken = fits ? await write(piece, framing) : false
                taken.withLockedValue { taken in
                    taken.isAll = isTaken
                    if isTaken { taken.bytes += piece.readableBytes }
                }
                guard isTaken else { throw ClientGone() }
            }
            let (bytes, isTaken) = taken.withLockedValue(\.self)
            let isAll = isTaken && !Task.isCancelled && bytes == stream.length ?? bytes
            if isTaken, !isAll, !Task.isCancelled, channel.isActive {
                sent.trouble = "the stream is not as long as it says"
            }
            if isAll { sent.isWhole = await end(framing, afterNothing: bytes == 0) }
        } catch is ClientGone {
        } catch is CancellationError {
        } catch { sent.trouble = "\(error)" }
        // The connection ends: its client should see what broke, and not an empty reply.
        if !sent.isWhole { channel.flush() }
        sent.bytes = taken.withLockedValue(\.bytes)
        return sent
    }

    /// In parts that each have the time of ``FileServerConfiguration/writeTimeout``.
    private func write(_ piece: ByteBuffer, _ framing: Response.Framing) async -> Bool {
        var rest = piece
        while let part = rest.readSlice(length: min(rest.readableBytes, ResponsePieces.size)), part.readableBytes > 0 {
            guard await write(framing == .chunked ? part.asChunk : part) else { return false }
        }
        return true
    }

    /// The kernel has the head, too, once it has what was written after it.
    private func end(_ framing: Response.Framing, afterNothing: Bool) async -> Bool {
        if framing == .chunked { return await write(ByteBuffer(string: "0\r\n\r\n")) }
        return afterNothing ? await write(ByteBuffer()) : true
    }

    /// Whoever reads the connection looks at what it waits for.
    func wakeReader() {
        ReaderWake.fire(channel)
    }

    /// Returns when the kernel has taken all of `bytes`; false when it never will.
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
    /// What is written after this call, by the same thread or by what it starts, goes after them.
    func write(_ bytes: ByteBuffer, flushedWithin time: TimeAmount) {
        // One task for both: a loop that is late takes what is due and what was handed in by turns, and a flush that runs
        // first finds nothing.
        let work: @Sendable () -> Void = { [self] in
            write(bytes, promise: nil)
            eventLoop.scheduleTask(in: time) { [self] in flush() }
        }
        if eventLoop.inEventLoop { work() } else { eventLoop.execute(work) }
    }
}

extension ByteBuffer {
    /// RFC 9112 §7.1; not for no bytes, which would end the body.
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
