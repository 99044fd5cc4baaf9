package import NIOCore

/// The body of a request while it arrives: the client is held back until each piece is asked for.
///
/// To be read once, by one task. Asking for the first piece sends the `100 Continue` that a client may wait for; what
/// is never asked for ends the connection, unless little is left. Chunk extensions and trailers are dropped.
package struct RequestStream: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pieces: DemandChannel

        /// - Throws: when the rest of the body will not come: the client is gone, too slow, or broke its framing.
        package func next() async throws -> ByteBuffer? {
            try await pieces.next()
        }
    }

    /// Bytes in all; nil for a chunked body, whose end is known when it comes.
    package let length: Int?
    let pieces: DemandChannel

    /// Whether the rest will not come: the client broke its framing, was too slow, or is gone.
    package var isBroken: Bool { pieces.fault != nil }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pieces: pieces)
    }
}
