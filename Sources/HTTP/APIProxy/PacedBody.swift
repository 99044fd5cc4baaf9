import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore

/// A body whose next piece is requested once the previous one has reached the upstream's channel.
///
/// The HTTP client passes each piece to its event loop and takes the next one unless that loop has asked it to pause. A loop that
/// is not scheduled for a while cannot ask, and pieces pile up without limit (158 MB were measured on a busy machine). A round trip
/// through the loop gives it the opportunity to ask.
struct PacedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var pieces: RequestStream.AsyncIterator
        fileprivate let stall: UploadStall

        mutating func next() async throws -> ByteBuffer? {
            try await stall.waitUntilTaken()
            let piece = try await pieces.next()
            if piece != nil { stall.pieceDelivered() }
            return piece
        }
    }

    let stream: RequestStream
    let stall: UploadStall

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pieces: stream.makeAsyncIterator(), stall: stall)
    }
}

/// Detects that an upstream accepts no more of a body.
///
/// The HTTP client does not detect this.
final class UploadStall: Sendable {
    private let loop: any EventLoop
    private let limit: TimeAmount
    private let state = NIOLockedValueBox(State())

    private struct State {
        var timer: Scheduled<Void>?
        var isStalled = false
        /// Ends the current wait.
        var whenStalled: AsyncStream<Void>.Continuation?
    }

    /// - Parameter loop: The event loop of the client's connections.
    init(on loop: any EventLoop, limit: Duration) {
        self.loop = loop
        self.limit = TimeAmount(limit)
    }

    /// Runs `work`, and cancels it if the upload stalls or has stalled before.
    func cancelling<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let stream = stalls()
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                var stalls = stream.makeAsyncIterator()
                guard await stalls.next(isolation: #isolation) != nil else { return nil }
                throw UpstreamFault.timedOut
            }
            defer { group.cancelAll() }
            while let first = try await group.next() {
                if let first { return first }
            }
            throw CancellationError()
        }
    }

    private func stalls() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        state.withLockedValue { state in
            state.whenStalled = continuation
            if state.isStalled { continuation.yield() }
        }
        return stream
    }

    /// The answer is over.
    ///
    /// The rest of the body is not needed any more.
    func end() {
        state.withLockedValue { $0.timer?.cancel() }
    }

    fileprivate func pieceDelivered() {
        let next = loop.scheduleTask(in: limit) { [state] in
            state.withLockedValue { state in
                state.isStalled = true
                _ = state.whenStalled?.yield()
            }
        }
        state.withLockedValue { state in
            state.timer?.cancel()
            state.timer = next
        }
    }

    fileprivate func waitUntilTaken() async throws {
        let last = state.withLockedValue { $0.timer.take() }
        guard let last else { return }
        last.cancel()
        try await loop.submit {}.get()
    }
}
