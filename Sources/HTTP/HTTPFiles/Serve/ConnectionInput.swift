import NIOCore

/// What a ``Connection`` is given to read.
enum ConnectionInput: Sendable {
    /// A request that its front has read and decided on, and what came after it.
    case request(OpenedRequest, ByteBuffer)
    case bytes(ByteBuffer)
    /// Nothing; it is to look at its deadline, or at who still waits.
    case wake
}
