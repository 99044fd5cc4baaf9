import HTTPFiles
import NIOCore
import Testing

@testable import ReleaseAPI

@Suite("An operator's connection", .timeLimit(.minutes(10)))
struct OperatorConnectionTests {
    @Test(arguments: [false, true])
    func `is closed when there is neither a place for it nor the time to say so`(_ hasTLS: Bool) async throws {
        let identity = RenewableIdentity(try .untrusted())
        try await OperatorConnections.with({
            $0.maxConnections = 1
            $0.headerTimeout = .seconds(3600)
            if hasTLS { $0.tls = identity }
        }) { operators in
            while try await operators.occupy() {}
            // More than get an answer at a time.
            for _ in 0..<6 {
                let said = try await operators.connected { client in await client.rest() }
                #expect(said == "")
            }
            #expect(openSockets(on: operators.port).map(\.isListening) == [true])
        }
    }

    @Test func `is closed when its server stops while it comes`() async throws {
        try await OperatorConnections.with { operators in
            operators.admission.stop()
            let said = try await operators.connected { client in await client.rest() }
            #expect(said == "")
        }
    }

    @Test func `that was refused ends with all others, whatever its client still sends`() async throws {
        try await OperatorConnections.with({ $0.maxConnections = 1 }) { operators in
            try await operators.occupy()
            try await operators.connected { refused in
                #expect(try await refused.read(to: "\r\n\r\n").hasPrefix("HTTP/1.1 503 "))
                try await refused.send("x")
                let channel = try #require(await operators.opened.first { _ in true })
                operators.admission.closeAll()
                #expect(try await channel.eventLoop.submit { channel.isActive }.get() == false)
            }
        }
    }

    @Test func `is closed under a client that takes none of its answers, though they have no bodies`() async throws {
        try await OperatorConnections.with({ $0.writeTimeout = .milliseconds(50) }) { operators in
            try await operators.connected(reading: false) { client in
                let head = "HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
                try await client.send(String(repeating: head, count: 5_000))
                let channel = try #require(await operators.opened.first { _ in true })
                try await channel.closeFuture.get()
            }
        }
    }

    @Test(arguments: [false, true])
    func `ends after its last answer, however long the client pauses, and though that has ended its own half`(
        _ hasEnded: Bool
    ) async throws {
        try await OperatorConnections.with { operators in
            try await operators.connected(reading: false) { client in
                try await client.send("GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                if hasEnded { try await client.channel.close(mode: .output) }
                let channel = try #require(await operators.opened.first { _ in true })
                _ = await operators.finished.first { _ in true }
                let isSending = try await channel.eventLoop.submit {
                    let connection = try channel.pipeline.syncOperations.handler(type: OperatorConnection.self)
                    return connection.unsent > 0 && Set(connection.timers.keys) == [.writing]
                }.get()
                #expect(isSending, "no time runs but the one for taking it")
                try await client.startReading()
                let head = try await client.read(to: "\r\n\r\n")
                let length = try #require(head.firstMatch(of: #/(?i)content-length: (\d+)/#))
                #expect(await client.rest().utf8.count == Int(length.1))
            }
        }
    }
}
