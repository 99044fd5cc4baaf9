import Foundation
import NIOCore
import NIOPosix

/// A client that asks a server on loopback as a browser would, one connection a request.
package struct Browser: Sendable {
    package struct Answer: Sendable {
        package let status: Int
        /// The lines of the head.
        package let head: [String]
        package let body: String

        package init(_ text: String) {
            let end = text.range(of: "\r\n\r\n")
            head = (end.map { text[..<$0.lowerBound] } ?? text[...]).split(separator: "\r\n").map(String.init)
            status = head.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            body = end.map { String(text[$0.upperBound...]) } ?? ""
        }

        package func field(_ name: String) -> String? {
            head.first { $0.lowercased().hasPrefix("\(name.lowercased()): ") }.map {
                String($0.dropFirst(name.count + 2))
            }
        }
    }

    package let port: Int
    package var cookie: String?
    package var host: String

    package init(port: Int, cookie: String? = nil, host: String = "127.0.0.1") {
        (self.port, self.cookie, self.host) = (port, cookie, host)
    }

    /// As a browser that opened the app's URL: with the cookie that it got.
    package static func opening(_ url: String) async throws -> Browser {
        let halves = url.dropFirst("http://".count).split(separator: "/", maxSplits: 1)
        let (authority, rest) = (halves[0].split(separator: ":"), halves.count > 1 ? halves[1] : "")
        var browser = Browser(port: Int(authority[1]) ?? 0, host: String(authority[0]))
        let first = try await browser.ask("/__patchline/status" + rest)
        browser.cookie = first.field("Set-Cookie").map { String($0.prefix { $0 != ";" }) }
        return browser
    }

    package func ask(
        _ target: String,
        _ fields: [(String, String)] = [],
        method: String = "GET",
        body: String? = nil
    ) async throws -> Answer {
        let length = body.map { [("Content-Length", "\($0.utf8.count)")] } ?? []
        return try await connected { inbound, channel in
            try await channel.writeAndFlush(head(method, target, fields + length + [("Connection", "close")]))
            if let body { try await channel.writeAndFlush(ByteBuffer(string: body)) }
            var text = ByteBuffer()
            while var more = try await inbound.next(isolation: #isolation) { text.writeBuffer(&more) }
            return Answer(String(buffer: text))
        }
    }

    /// Opens a stream of events for as long as `body` listens.
    package func hear<Result: Sendable>(_ body: (inout Ear) async throws -> Result) async throws -> Result {
        try await connected { inbound, channel in
            try await channel.writeAndFlush(head("GET", "/__patchline/events", []))
            var ear = Ear(inbound: inbound)
            return try await body(&ear)
        }
    }

    package struct Ear {
        fileprivate var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        package private(set) var text = ""

        fileprivate init(inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator) {
            self.inbound = inbound
        }

        /// Waits for any of these; false when the stream ends before.
        package mutating func wait(for parts: String...) async throws -> Bool {
            while !parts.contains(where: text.contains) {
                guard let more = try await inbound.next(isolation: #isolation) else { return false }
                text += String(buffer: more)
            }
            return true
        }
    }

    private func head(_ method: String, _ target: String, _ fields: [(String, String)]) -> ByteBuffer {
        var all = fields
        if !fields.contains(where: { $0.0 == "Host" }) { all.insert(("Host", "\(host):\(port)"), at: 0) }
        if let cookie { all.append(("Cookie", cookie)) }
        let lines = all.map { "\($0): \($1)" }.joined(separator: "\r\n")
        return ByteBuffer(string: "\(method) \(target) HTTP/1.1\r\n\(lines)\r\n\r\n")
    }

    private func connected<Result: Sendable>(
        _ body: (inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator, any Channel) async throws -> Result
    ) async throws -> Result {
        // From another address of the loopback: who asks again and again for a port where nobody listens yet gets that very port
        // for its own end sooner or later, and is connected to itself.
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(to: try SocketAddress(ipAddress: "127.0.0.2", port: 0))
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, Never>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound in
            var iterator = inbound.makeAsyncIterator()
            return try await body(&iterator, connection.channel)
        }
    }
}
