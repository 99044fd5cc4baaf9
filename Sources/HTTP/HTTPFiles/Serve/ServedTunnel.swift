package import NIOCore
package import NIOHTTP1

/// A `101 Switching Protocols` and then raw bytes in both directions, only for a request that asked for it
/// (``FileRequest/upgrade``).
///
/// It ends when `run` returns. When the server stops, or the idle limit (``FileServerConfiguration/tunnelIdleTimeout``) has passed,
/// the connection is closed and `run` is cancelled.
package struct ServedTunnel: Sendable {
    /// All fields of the answer except `Connection`.
    ///
    /// `Upgrade` is among them.
    package let headers: HTTPHeaders
    let run: @Sendable (_ client: TunnelClient) async -> Void

    package init(headers: HTTPHeaders, run: @escaping @Sendable (_ client: TunnelClient) async -> Void) {
        self.headers = headers
        self.run = run
    }
}

/// The client's end of a tunnel.
package struct TunnelClient: Sendable {
    let pieces: DemandChannel
    let send: @Sendable (ByteBuffer) async -> Bool

    /// Returns the next bytes that the client sent, or nil at its end.
    ///
    /// The client is held back until they are requested.
    package func next() async throws -> ByteBuffer? {
        try await pieces.next()
    }

    /// Returns when the kernel has accepted all of the bytes.
    package func write(_ bytes: ByteBuffer) async throws(ClientDisconnected) {
        guard await send(bytes) else { throw ClientDisconnected() }
    }
}
