import HTTPAPI
import HTTPFiles
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// What the client gets, and how the connection ends.
extension OperatorConnection {
    /// The last answer, without anybody behind having seen a request.
    func refuse(_ fault: RequestFault, _ context: ChannelHandlerContext) {
        turn.linger()
        write(fault, context)
        context.flush()
    }

    private func write(_ fault: RequestFault, _ context: ChannelHandlerContext) {
        let response = Response(APIProblem(fault))
        let bytes = ByteBuffer(bytes: APIProblem(fault).bytes)
        var head = HTTPResponseHead(
            version: .http1_1,
            status: fault.status,
            headers: HTTPHeaders(response.headers.map { ($0.name.rawName, $0.value) })
        )
        finish(&head.headers, keeps: false)
        status = head.status
        send(.head(head), bytes: head.length, context)
        if request?.method != .HEAD { send(bytes, context, nil) }
        sendEnd(nil, context, nil)
        context.flush()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isReplaced, turn.phase != .lingering else { return _ = promise?.succeed() }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            switch turn.begins(stopping: admitted.admission.isStopping) {
            case .fault(let fault):
                isReplaced = true
                write(fault, context)
                promise?.succeed()
            case .answer(let keeps):
                finish(&head.headers, keeps: keeps)
                status = head.status
                send(.head(head), bytes: head.length, context, promise)
            }
        case .body(.byteBuffer(var bytes)) where bytes.readableBytes > 0:
            while let piece = bytes.readSlice(length: min(bytes.readableBytes, Self.piece)), piece.readableBytes > 0 {
                send(piece, context, bytes.readableBytes == 0 ? promise : nil)
            }
        case .body: context.write(data, promise: promise)
        case .end(let trailers): sendEnd(trailers, context, promise)
        }
    }

    private func send(_ piece: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        let count = piece.readableBytes
        send(.body(.byteBuffer(piece)), bytes: count, context, promise).whenSuccess { self.sent += count }
    }

    private func sendEnd(
        _ trailers: HTTPHeaders?,
        _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>?
    ) {
        turn.completes()
        send(.end(trailers), bytes: 0, context, promise).whenComplete { _ in self.ended(context) }
    }

    /// Every part is timed, with or without a body's bytes: a client that takes none would keep its place for good.
    @discardableResult
    private func send(
        _ part: HTTPServerResponsePart,
        bytes: Int,
        _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>? = nil
    ) -> EventLoopFuture<Void>.Isolated {
        let written = context.eventLoop.makePromise(of: Void.self)
        let sent = written.futureResult.assumeIsolated()
        unsent += 1
        if let deadline = writing.begin(at: context.eventLoop.now) { schedule(.writing, at: deadline, context) }
        sent.whenComplete { _ in
            self.unsent -= 1
            _ = self.writing.end(at: context.eventLoop.now, bytes: bytes)
            self.timers.removeValue(forKey: .writing)?.cancel()
            guard self.unsent > 0, let deadline = self.writing.begin(at: context.eventLoop.now) else { return }
            self.schedule(.writing, at: deadline, context)
        }
        written.futureResult.cascade(to: promise)
        context.write(wrapOutboundOut(part), promise: written)
        return sent
    }

    private func finish(_ headers: inout HTTPHeaders, keeps: Bool) {
        headers.replaceOrAdd(name: "Date", value: HTTPDate.now)
        if !keeps { headers.replaceOrAdd(name: "Connection", value: "close") }
        if keeps, request?.version.minor == 0 { headers.replaceOrAdd(name: "Connection", value: "keep-alive") }
    }

    /// An answer is out.
    private func ended(_ context: ChannelHandlerContext) {
        let answered = AdmittedConnection.Answered(request, status, bodyBytes: sent, since: since)
        (request, sent, since, isReplaced) = (nil, 0, .now, false)
        guard context.channel.isActive else { return _ = admitted.ends(answered) }
        let next = turn.ends(goesOn: admitted.ends(answered) && turn.phase != .lingering)
        switch next {
        case .linger: linger(context)
        case .rest: break
        case .request:
            pass(to: Pace(grace: configuration.idleTimeout, rate: nil), context)
            takeLater(context)
        }
    }

    /// Requests that came while another one was answered.
    private func takeLater(_ context: ChannelHandlerContext) {
        while !turn.holdsBack, turn.phase != .lingering, let next = later.popFirst() {
            switch next {
            case .part(let part): take(part, context)
            case .fault(let fault): fail(fault, context)
            }
        }
        context.fireChannelReadComplete()
        tellOfClosedInput(context)
        if isReadHeld {
            isReadHeld = false
            read(context: context)
        }
    }

    // MARK: - Ending

    /// Half-closes and waits for the client's end (RFC 9112 §9.6): closing over unread bytes resets the connection, and the
    /// client may lose the answer with it.
    func linger(_ context: ChannelHandlerContext) {
        turn.linger()
        later.removeAll()
        for timer in timers.values { timer.cancel() }
        timers = [:]
        guard input == .open, context.channel.isActive else { return end(context) }
        context.close(mode: .output, promise: nil)
        schedule(.lingering, at: context.eventLoop.now + Self.lingering, context)
        listenOn(context)
        isReadHeld = false
        context.read()
    }

    func listenOn(_ context: ChannelHandlerContext) {
        timers.removeValue(forKey: .silence)?.cancel()
        schedule(.silence, at: context.eventLoop.now + Self.silence, context)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .output:
            promise?.succeed()
            if !turn.closes() { linger(context) }
        case .all where context.channel.isActive && turn.closes():
            // Its own end is near, and the client is still to read the answer.
            if let promise { closing.setOrCascade(to: promise) }
        case .all, .input: context.close(mode: mode, promise: promise)
        }
    }

    func end(_ context: ChannelHandlerContext) {
        context.close(promise: closing)
        closing = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        for timer in timers.values { timer.cancel() }
        timers = [:]
        closing?.succeed()
        closing = nil
        context.fireChannelInactive()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is BodyIsWanted else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if turn.asksForBody() {
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        }
        promise?.succeed()
    }

    func schedule(_ timer: Timer, at deadline: NIODeadline, _ context: ChannelHandlerContext) {
        timers[timer] = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.timers[timer] = nil
            switch timer {
            case .reading: self.fail(.tooSlow, context)
            case .writing:
                self.admitted.fellBehind()
                context.close(promise: nil)
            case .silence, .lingering: self.end(context)
            }
        }
    }
}

extension HTTPResponseHead {
    /// About as many bytes as it has on the wire.
    fileprivate var length: Int { headers.reduce(17) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 } }
}

extension EventLoopPromise<Void>? {
    fileprivate mutating func setOrCascade(to promise: EventLoopPromise<Void>) {
        if let known = self { known.futureResult.cascade(to: promise) } else { self = promise }
    }
}
