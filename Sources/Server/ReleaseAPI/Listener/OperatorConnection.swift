import HTTPFiles
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import PatchFormat

/// Guards one connection of the operators' listener, between the parser and Hummingbird: one request at a time, a bound
/// for each wait for the client, and a refusal for anything that is no request.
///
/// ``OperatorTurn`` decides; this carries it out.
final class OperatorConnection: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Passed up when bytes arrive, before the parser's result.
    struct Arrival: Sendable {
        let bytes: Int
    }

    /// Passed down when a handler asks for a body.
    struct BodyIsWanted: Sendable {}

    /// How long a client may be silent before it closes after a last answer, and how long it may go on sending.
    static let silence = TimeAmount.seconds(2)
    static let lingering = TimeAmount.seconds(30)
    /// The piece of an answer that one time limit is for.
    static let piece = 128 * 1024

    let admitted: AdmittedConnection
    private let intake: @Sendable (CheckedHead) -> BodyIntake
    var configuration: FileServerConfiguration { admitted.admission.configuration }
    var turn = OperatorTurn()

    var reading: ClientWait
    var writing: ClientWait
    var timers: [Timer: Scheduled<Void>] = [:]
    var request: HTTPRequestHead?
    var since = ContinuousClock.now
    var status = HTTPResponseStatus.ok
    var sent = 0
    /// Parts of answers that the system has not taken yet.
    var unsent = 0
    var later = CircularBuffer<Later>()
    var isReadHeld = false
    var input = Input.open
    var isReplaced = false
    var closing: EventLoopPromise<Void>?

    /// Events that wait while an answer is owed.
    enum Later {
        case part(HTTPServerRequestPart)
        case fault(RequestFault)
    }

    enum Timer { case reading, writing, silence, lingering }
    enum Input { case open, closedUnseen, closed }

    /// - Parameter intake: how the body after a head is taken, which sets its time limit.
    init(_ admitted: AdmittedConnection, intake: @escaping @Sendable (CheckedHead) -> BodyIntake) {
        (self.admitted, self.intake) = (admitted, intake)
        let configuration = admitted.admission.configuration
        reading = ClientWait(Pace(grace: configuration.idleTimeout, rate: nil))
        writing = ClientWait(configuration.readingPace)
    }

    // MARK: - Reading

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        if admitted.isRefused { refuse(.tooManyConnections, context) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard turn.phase != .lingering else { return }
        let part = unwrapInboundIn(data)
        if turn.holdsBack || !later.isEmpty { later.append(.part(part)) } else { take(part, context) }
    }

    func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let head):
            (request, since) = (head, .now)
            do throws(RequestFault) {
                guard head.version.major == 1 else { throw .unsupportedVersion }
                let checked = try CheckedHead(
                    head.method,
                    head.uri,
                    minorVersion: head.version.minor,
                    head.headers,
                    maxTargetBytes: configuration.maxTargetBytes
                )
                guard try admitted.begins(checked) else { return context.close(promise: nil) }
                turn.came(checked)
                pass(to: configuration.sendingPace(of: intake(checked)), context)
            } catch { return refuse(error, context) }
        case .body(let bytes):
            turn.came(ofBody: bytes.readableBytes)
        case .end:
            since = .now
            let isNext = turn.cameToItsEnd()
            pass(to: Pace(grace: configuration.idleTimeout, rate: nil), context)
            if !isNext { admitted.answers() }
        }
        context.fireChannelRead(wrapInboundOut(part))
    }

    func read(context: ChannelHandlerContext) {
        guard !turn.holdsBack else {
            isReadHeld = true
            return
        }
        if case .exchange = turn.phase { admitted.awaitsMore() }
        if turn.awaitsClient, let deadline = reading.begin(at: context.eventLoop.now) {
            schedule(.reading, at: deadline, context)
        }
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let arrival as Arrival: came(arrival.bytes, context)
        case is ChannelShouldQuiesceEvent: break
        case ChannelEvent.inputClosed:
            input = .closedUnseen
            tellOfClosedInput(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func came(_ bytes: Int, _ context: ChannelHandlerContext) {
        if turn.phase == .lingering { return listenOn(context) }
        let isInTime = reading.end(at: context.eventLoop.now, bytes: bytes)
        timers.removeValue(forKey: .reading)?.cancel()
        guard isInTime else { return fail(.tooSlow, context) }
        if turn.phase == .idle { pass(to: Pace(grace: configuration.headerTimeout, rate: nil), context) }
        turn.came(bytes: bytes)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .head(let bytes) = turn.phase, bytes > configuration.maxHeaderBytes { refuse(.headTooLarge, context) }
        context.fireChannelReadComplete()
    }

    /// Reported after the bytes before it.
    func tellOfClosedInput(_ context: ChannelHandlerContext) {
        guard input == .closedUnseen else { return }
        if turn.phase == .lingering { return end(context) }
        guard later.isEmpty, !turn.holdsBack else { return }
        input = .closed
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    func pass(to pace: Pace, _ context: ChannelHandlerContext) {
        reading.turn(to: pace, at: context.eventLoop.now)
        timers.removeValue(forKey: .reading)?.cancel()
        if turn.awaitsClient, let deadline = reading.deadline { schedule(.reading, at: deadline, context) }
    }

    // MARK: - Faults

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else {
            if turn.phase == .lingering { return end(context) }
            return context.fireErrorCaught(error)
        }
        let fault = RequestFault(error, turn.phase)
        if turn.holdsBack || !later.isEmpty { later.append(.fault(fault)) } else { fail(fault, context) }
    }

    func fail(_ fault: RequestFault, _ context: ChannelHandlerContext) {
        let failing = turn.fails(fault)
        if fault == .tooSlow, failing != .refuse { admitted.fellBehind() }
        switch failing {
        case .close: end(context)
        case .refuse: refuse(fault, context)
        case .tellReader: context.fireErrorCaught(fault)
        case .wait: break
        }
    }
}

extension RequestFault {
    /// A parser's error in the words of our own.
    init(_ error: HTTPParserError, _ phase: OperatorTurn.Phase) {
        switch error {
        case .headerOverflow: self = .headTooLarge
        case .invalidVersion: self = .unsupportedVersion
        case .invalidMethod: self = .unknownMethod
        case .invalidEOFState, .closedConnection:
            self = if case .exchange = phase { .bodyEndsEarly } else { .headEndsEarly }
        default: self = .malformed("it is not HTTP/1.1")
        }
    }
}

/// Reports the number of bytes that arrived, before the parser gets them.
final class ArrivalNotice: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireUserInboundEventTriggered(OperatorConnection.Arrival(bytes: unwrapInboundIn(data).readableBytes))
        context.fireChannelRead(data)
    }
}
