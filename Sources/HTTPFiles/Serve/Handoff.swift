import NIOConcurrencyHelpers
import NIOCore

/// Hands bytes from the task that reads a connection to the one that uses them, each piece only once it is asked for.
///
/// ```
/// consumer: next() ──ask──▶ producer: isAsked() ──▶ reads ──▶ give(_:) or finish(_:)
///           close(): nobody will ask again
/// ```
final class Handoff: Sendable {
    private struct State {
        var isFinished = false
        var isClosed = false
        var fault: RequestFault?
    }

    private let state = NIOLockedValueBox(State())
    private let asked = AsyncStream.makeStream(of: Void.self)
    private let pieces = AsyncThrowingStream.makeStream(of: ByteBuffer.self)

    // MARK: - The consumer

    /// The next piece; nil once the producer has finished.
    ///
    /// - Throws: what the producer finished with, or `CancellationError`; never is a cut stream taken for a whole one.
    func next() async throws -> ByteBuffer? {
        if isFinished { return nil }
        asked.continuation.yield()
        var iterator = pieces.stream.makeAsyncIterator()
        if let piece = try await iterator.next(isolation: #isolation) { return piece }
        guard isFinished else { throw CancellationError() }
        return nil
    }

    func close() {
        state.withLockedValue { $0.isClosed = true }
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
        state.withLockedValue { $0.isFinished = true }
        pieces.continuation.finish()
    }

    /// What was to come does not.
    func finish(throwing fault: RequestFault) {
        state.withLockedValue { $0.fault = fault }
        pieces.continuation.finish(throwing: fault)
    }

    private var isFinished: Bool { state.withLockedValue(\.isFinished) }
    var isClosed: Bool { state.withLockedValue(\.isClosed) }
    var fault: RequestFault? { state.withLockedValue(\.fault) }
}
