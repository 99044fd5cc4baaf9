import NIOCore

/// The input of a ``Connection``.
enum ConnectionInput: Sendable {
    /// A request that the front has read and decided on, and the bytes after it.
    case request(OpenedRequest, ByteBuffer)
    case bytes(ByteBuffer)
    /// No bytes. The reader checks its deadline, and whether its consumer still waits.
    case wake
}
