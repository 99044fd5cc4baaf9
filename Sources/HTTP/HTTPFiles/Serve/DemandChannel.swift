import NIOConcurrencyHelpers
import NIOCore

/// Passes bytes from the task that reads a connection to the task that uses them.
///
/// Each piece is read only on demand.
///
/// ```
/// consumer: next() ──ask──▶ producer: isAsked() ──▶ reads ──▶ give(_:) or finish(_:)
///           close(): the consumer is done
/// ```
final class DemandChannel: Sendable {
    private enum Producer {
        case producing
        case finished
        case failed(RequestFault)
    }

    private enum Consumer {
        case open
        case closed
    }

    private let state = NIOLockedValueBox((producer: Producer.producing, consumer: Consumer.open))
    private let asked = AsyncStream.makeStream(of: Void.self)
    private let pieces = AsyncThrowingStream.makeStream(of: ByteBuffer.self)

    // MARK: - The consumer

    /// Returns the next piece, or nil once the producer has finished.
    ///
    /// - Throws: The producer's fault, or `CancellationError`. A truncated stream always ends with an error.
    func next() async throws -> ByteBuffer? {
        if isFinished { return nil }
        asked.continuation.yield()
        var iterator = pieces.stream.makeAsyncIterator()
        if let piece = try await iterator.next(isolation: #isolation) { return piece }
        guard isFinished else { throw CancellationError() }
        return nil
    }

    func close() {
        state.withLockedValue { $0.consumer = .closed }
        asked.continuation.finish()
    }

    // MARK: - The producer

    /// Waits for a request of the consumer.
    ///
    /// Returns false if the consumer wants nothing more.
    func waitForDemand() async -> Bool {
        var iterator = asked.stream.makeAsyncIterator()
        return await iterator.next(isolation: #isolation) != nil
    }

    func give(_ piece: ByteBuffer) {
        pieces.continuation.yield(piece)
    }

    /// Ends the stream normally.
    func finish() {
        state.withLockedValue { state in
            // A failed stream stays failed.
            if case .producing = state.producer { state.producer = .finished }
        }
        pieces.continuation.finish()
    }

    /// Ends the stream before its last piece.
    func finish(throwing fault: RequestFault) {
        state.withLockedValue { $0.producer = .failed(fault) }
        pieces.continuation.finish(throwing: fault)
    }

    private var isFinished: Bool {
        if case .finished = state.withLockedValue(\.producer) { true } else { false }
    }

    var isClosed: Bool {
        if case .closed = state.withLockedValue(\.consumer) { true } else { false }
    }

    var fault: RequestFault? {
        if case .failed(let fault) = state.withLockedValue(\.producer) { fault } else { nil }
    }
}
