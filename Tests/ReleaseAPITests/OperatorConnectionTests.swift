import HTTPFiles
import NIOCore
import Testing

@testable import ReleaseAPI

@Suite("An operator's connection", .timeLimit(.minutes(1)))
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
}
