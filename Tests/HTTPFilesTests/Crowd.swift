import NIOCore
import NIOPosix

/// Many clients of one address that do all the same, and read nothing of what they are told.
struct Crowd: Sendable {
    let channels: [any Channel]

    /// - Parameter reading: false for clients that take no byte.
    static func connected<Result: Sendable>(
        _ count: Int,
        to server: TestServer,
        from address: String,
        saying text: String = "",
        reading: Bool = true,
        _ body: (Crowd) async throws -> Result
    ) async throws -> Result {
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(to: try SocketAddress(ipAddress: address, port: 0))
            .channelOption(.autoRead, value: reading)
        var channels: [any Channel] = []
        for _ in 0..<count {
            let channel = try await bootstrap.connect(host: "127.0.0.1", port: server.port).get()
            channels.append(channel)
            // Some are refused, or closed, before they say a word.
            if !text.isEmpty { try? await channel.writeAndFlush(ByteBuffer(string: text)) }
        }
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(Crowd(channels: channels))) } catch { result = .failure(error) }
        for channel in channels { channel.close(promise: nil) }
        return try result.get()
    }

    func say(_ text: String) async {
        for channel in channels { try? await channel.writeAndFlush(ByteBuffer(string: text)) }
    }
}
