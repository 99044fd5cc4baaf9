package import NIOCore
package import NIOHTTP1

/// The client of a stream or a tunnel accepts no more bytes.
package struct ClientDisconnected: Error, Equatable, Sendable {
    package init() {}
}

/// A response that is sent piece by piece.
///
/// Each piece is requested when the previous one is sent.
///
/// Its task is cancelled when the client disconnects, also while it waits for the next piece. For a HEAD request and for a status
/// without content, no piece is requested.
package struct ServedStream: Sendable {
    /// Returns when the kernel has accepted all of the bytes.
    package typealias Write = @Sendable (_ piece: ByteBuffer) async throws(ClientDisconnected) -> Void

    /// The status, 200 or above.
    package let status: HTTPResponseStatus
    /// All fields of the answer except those of its framing, which the server decides.
    ///
    /// `Date` is added if missing.
    package var headers: HTTPHeaders
    /// The size in bytes, if known.
    ///
    /// Otherwise the response is chunked, and for HTTP/1.0 ended by the end of the connection.
    package let length: Int?
    /// Whether the stream continues until it is stopped, as server-sent events do.
    ///
    /// A stopping server ends it at once instead of waiting until the drain deadline.
    package let isEndless: Bool
    /// Writes the answer's bytes.
    ///
    /// Called at most once.
    package let send: @Sendable (_ write: @escaping Write) async throws -> Void

    /// - Parameter send: Called at most once. If it throws, or writes another number of bytes than `length`, the connection ends,
    ///   so that the client detects the incomplete response.
    package init(
        status: HTTPResponseStatus = .ok,
        headers: HTTPHeaders,
        length: Int? = nil,
        isEndless: Bool = false,
        send: @escaping @Sendable (_ write: @escaping Write) async throws -> Void
    ) {
        precondition(status.code >= 200, "not a final status")
        self.status = status
        self.headers = headers
        self.length = length
        self.isEndless = isEndless
        self.send = send
    }

    /// A response with the pieces of a sequence.
    package init<Pieces: AsyncSequence & Sendable>(
        status: HTTPResponseStatus = .ok,
        headers: HTTPHeaders,
        length: Int? = nil,
        isEndless: Bool = false,
        pieces: Pieces
    ) where Pieces.Element == ByteBuffer {
        self.init(status: status, headers: headers, length: length, isEndless: isEndless) { write in
            for try await piece in pieces { try await write(piece) }
        }
    }
}
