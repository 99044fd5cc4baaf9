import NIOConcurrencyHelpers
import NIOCore

/// Bytes from the task that reads a connection to the one that uses them, each piece only once it is asked for.
///
/// ```
/// consumer: next() ──ask──▶ producer: isAsked() ──▶ reads ──▶ give(_:) or finish(_:)
///           close(): nobody will ask again
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

    /// The next piece; nil once the producer has finished.
    ///
    /// - Throws: what the producer failed with, or `CancellationError`; never is a cut stream taken for a whole one.
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

    /// Waits for the consumer; false when it wants nothing more.
    func isAsked() async -> Bool {
        var iterator = asked.stream.makeAsyncIterator()
        return await iterator.next(isolation: #isolation) != nil
    }

    func give(_ piece: ByteBuffer) {
        pieces.continuation.yield(piece)
    }

    /// Nothing more comes.
    func finish() {
        state.withLockedValue { state in
            // What has failed is never taken for whole.
            if case .producing = state.producer { state.producer = .finished }
        }
        pieces.continuation.finish()
    }

    /// What was to come does not.
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
