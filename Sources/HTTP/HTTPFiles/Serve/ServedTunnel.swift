package import NIOCore
package import NIOHTTP1

/// `101 Switching Protocols`, and then raw bytes both ways: only for a request that asked for it
/// (``FileRequest/upgrade``).
///
/// It ends when `run` returns; a server that stops, or the idle limit
/// (``FileServerConfiguration/tunnelIdleTimeout``), closes the connection and cancels `run`.
package struct ServedTunnel: Sendable {
    /// All fields of the answer but `Connection`; `Upgrade` is among them.
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

    /// The next bytes that the client sent; nil at its end.
    ///
    /// Until they are asked for, the client is held back.
    package func next() async throws -> ByteBuffer? {
        try await pieces.next()
    }

    /// Returns when the kernel has taken all of the bytes.
    package func write(_ bytes: ByteBuffer) async throws(ClientGone) {
        guard await send(bytes) else { throw ClientGone() }
    }
}
