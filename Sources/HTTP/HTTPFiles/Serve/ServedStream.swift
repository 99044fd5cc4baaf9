package import NIOCore
package import NIOHTTP1

/// The client of a stream or a tunnel takes no more bytes.
package struct ClientGone: Error, Equatable, Sendable {
    package init() {}
}

/// A response whose bytes come piece by piece, each asked for when the one before is gone.
///
/// Its task is cancelled when the client goes away, also while it waits for the next piece. A HEAD request and a status
/// without content never ask for any.
package struct ServedStream: Sendable {
    /// Returns when the kernel has taken all of the bytes.
    package typealias Write = @Sendable (_ piece: ByteBuffer) async throws(ClientGone) -> Void

    /// 200 and above.
    package let status: HTTPResponseStatus
    /// All fields of the answer but those of its framing, which the server decides; `Date` is added where none stands.
    package var headers: HTTPHeaders
    /// Bytes in all, if known; else the response is chunked, and for HTTP/1.0 ended by the connection's end.
    package let length: Int?
    /// Whether it goes on until somebody stops it, as server-sent events do: then a server that stops ends it at once,
    /// instead of waiting for it until the drain deadline.
    package let isEndless: Bool
    /// Writes the answer's bytes; called once, or never.
    package let send: @Sendable (_ write: @escaping Write) async throws -> Void

    /// - Parameter send: called once, or never; when it throws, or writes another number of bytes than `length`, the
    ///   connection ends so that the client does not take what it has for the whole.
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

    /// The pieces of a sequence.
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
