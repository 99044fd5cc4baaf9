package import NIOCore

/// The body of a request while it arrives.
///
/// The client is held back until each piece is requested.
///
/// It can be read once, by one task. Requesting the first piece sends the `100 Continue` that a client may wait for. A rest that is
/// never requested ends the connection, unless it is short. Chunk extensions and trailers are dropped.
package struct RequestStream: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pieces: DemandChannel

        /// - Throws: If the rest of the body will not arrive: the client has disconnected, is too slow, or broke its framing.
        package func next() async throws -> ByteBuffer? {
            try await pieces.next()
        }
    }

    /// The size in bytes, or nil for a chunked body, whose size is known only at its end.
    package let length: Int?
    let pieces: DemandChannel

    /// Whether the rest will not arrive: the client broke its framing, was too slow, or has disconnected.
    package var isBroken: Bool { pieces.fault != nil }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pieces: pieces)
    }
}
