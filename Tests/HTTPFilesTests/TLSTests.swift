import HTTPCore
import HTTPFiles
import NIOCore
import NIOPosix
import NIOSSL
import PatchTesting
import SystemPackage
import Testing

@Suite("A server with TLS", .timeLimit(.minutes(10)))
struct TLSTests {
    private func running<Result: Sendable>(
        _ source: any FileSource = .digits,
        configure: (inout FileServerConfiguration) -> Void = { _ in },
        _ body: (TestServer, TestCertificate) async throws -> Result
    ) async throws -> Result {
        let certificate = try await TestCertificate()
        let identity = try certificate.identity()
        return try await TestServer.running(
            source,
            configure: {
                $0.tls = RenewableIdentity(identity)
                configure(&$0)
            }
        ) { try await body($0, certificate) }
    }

    private func curl(_ server: TestServer, _ certificate: TestCertificate, _ arguments: String...) async throws
        -> Printed
    {
        let url = "https://127.0.0.1:\(server.port)/"
        return try await run(
            "curl",
            ["--silent", "--show-error", "--cacert", certificate.certificate.string] + arguments + [url]
        )
    }

    @Test func `answers GET, HEAD and ranges to curl, which checks its certificate`() async throws {
        try await running { server, certificate in
            #expect(try await curl(server, certificate).text == "0123456789")
            #expect(try await curl(server, certificate, "--range", "2-4").text == "234")
            let head = try await curl(server, certificate, "--head")
            #expect(head.isSuccess && head.text.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(head.text)")
            let other = try await TestCertificate()
            #expect(try await curl(server, other).isSuccess == false)
        }
    }

    @Test func `shows a renewed certificate to new connections, and goes on with the open ones`() async throws {
        let (old, new) = (try await TestCertificate(), try await TestCertificate())
        let identity = RenewableIdentity(try old.identity())
        try await TestServer.running(.digits, configure: { $0.tls = identity }) { server in
            try await RawClient.connected(to: server.port, tls: try old.clientContext()) { open in
                try await open.send(request("GET", "/"))
                #expect(try await open.response().status == 200)
                identity.renew(with: try new.identity())
                #expect(try await curl(server, new).text == "0123456789")
                #expect(try await curl(server, old).isSuccess == false)
                try await open.send(request("GET", "/"))
                #expect(try await open.response().text == "0123456789")
            }
        }
    }

    @Test func `speaks TLS 1.2 and 1.3, nothing older, and says http/1.1 by ALPN`() async throws {
        try await running { server, certificate in
            for version in ["1.2", "1.3"] {
                let got = try await curl(server, certificate, "--verbose", "--tlsv\(version)", "--tls-max", version)
                #expect(got.text.contains("TLSv\(version)") && got.isSuccess, "\(got.text)")
                #expect(got.text.contains("accepted http/1.1"), "\(got.text)")
            }
            let old = try await curl(
                server,
                certificate,
                "--tlsv1.1",
                "--tls-max",
                "1.1",
                "--ciphers",
                "DEFAULT@SECLEVEL=0"
            )
            #expect(!old.isSuccess && old.text.contains("alert protocol version"), "\(old.text)")
        }
    }

    @Test func `sends a file of many records whole, and keeps the connection`() async throws {
        let folder = try TemporaryFolder()
        let size = 16 * 1024 * 1024
        let file = try folder.writeSparse("large", size: Int64(size))
        let source = ClosureSource.answering { request in
            request.path.text == "/large" ? .file(ServedFile(path: file)) : .bytes(.digits)
        }
        try await running(source) { server, certificate in
            try await RawClient.connected(to: server.port, tls: try certificate.clientContext()) { client in
                for _ in 0..<2 {
                    try await client.send(request("GET", "/large"))
                    #expect(try await client.response().body.count == size)
                    try await client.send(request("GET", "/") + request("GET", "/"))
                    #expect(try await client.response().text == "0123456789")
                    #expect(try await client.response().text == "0123456789")
                }
                try await client.send(request("GET", "/", ["Connection: close"]))
                #expect(try await client.response()["Connection"] == "close")
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `answers a malformed request and lets the client read that`() async throws {
        try await running { server, certificate in
            try await RawClient.connected(to: server.port, tls: try certificate.clientContext()) { client in
                try await client.send("NO\r\n\r\n" + String(repeating: "x", count: 100_000))
                #expect(try await client.response().status == 400)
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `answers 408 to a head that does not arrive in time`() async throws {
        // Long enough for the handshake, too.
        #expect(
            try await holdsWithGrowingTime(from: .milliseconds(100)) { time in
                try await running(configure: { $0.headerTimeout = time }) { server, certificate in
                    try await server.answersAndEnds(
                        "GET / HTTP/1.1\r\n",
                        status: 408,
                        tls: try certificate.clientContext()
                    )
                }
            }
        )
    }

    @Test func `answers a client that closed its own half`() async throws {
        try await running { server, certificate in
            try await RawClient.connected(to: server.port, tls: try certificate.clientContext()) { client in
                try await client.send(request("GET", "/"))
                try await client.closeOutput()
                #expect(try await client.response().text == "0123456789")
                #expect(await client.rest() == [])
            }
        }
    }

    @Test func `tells a client without TLS that it speaks HTTPS`() async throws {
        try await running { server, _ in
            let response = try await server.get("/")
            #expect((response.status, response.text) == (400, "This port speaks HTTPS.\n"))
            let entry = try #require(await server.accessLog.first { _ in true })
            #expect((entry.method, entry.target, entry.status, entry.bodyBytes) == ("-", "-", 400, 24))
            #expect(response["Connection"] == "close")
        }
    }

    @Test(arguments: [[], [22], [22, 3, 1, 2]] as [[UInt8]])
    func `drops a client whose handshake is not done in time`(sent: [UInt8]) async throws {
        try await running(configure: { $0.headerTimeout = .milliseconds(50) }) { server, _ in
            try await server.connected { client in
                try await client.send(bytes: sent)
                // What a TLS server may say at its end is one alert.
                #expect(await client.rest().count < 32)
            }
        }
    }

    @Test func `drops one connection too many before its handshake`() async throws {
        let source = HoldingSource(.digits)
        try await running(source, configure: { $0.maxConnections = 1 }) { server, certificate in
            try await RawClient.connected(to: server.port, tls: try certificate.clientContext()) { first in
                let held = try await source.holding(&first) {
                    try await server.connected { second in
                        #expect(await second.rest() == [])
                    }
                }
                #expect(held.status == 200)
            }
        }
    }

    @Test func `finishes the response in flight when it stops, and closes the idle`() async throws {
        let (asked, didAsk) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let source = ClosureSource.answering { request in
            if request.path.text == "/slow" {
                didAsk.yield()
                _ = await gate.first { true }
            }
            return .bytes(.digits)
        }
        try await running(source, configure: { $0.drainTimeout = .seconds(600) }) { server, certificate in
            let context = try certificate.clientContext()
            try await RawClient.connected(to: server.port, tls: context) { idle in
                try await idle.send(request("GET", "/"))
                _ = try await idle.response()
                try await RawClient.connected(to: server.port, tls: context) { busy in
                    try await busy.send(request("GET", "/slow"))
                    _ = await asked.first { true }
                    server.stop()
                    #expect(await idle.rest() == [])
                    open.yield()
                    #expect(try await busy.response().text == "0123456789")
                    #expect(await busy.rest() == [])
                }
            }
        }
    }
}

@Suite("A certificate and its key")
struct TLSIdentityTests {
    @Test func `say until when they hold`() async throws {
        let identity = try await TestCertificate(days: "3").identity()
        #expect(identity.validity.count - 1 == 3 * 86_400)
    }

    @Test func `open with the key's passphrase`() async throws {
        let certificate = try await TestCertificate(passphrase: "secret")
        #expect(throws: TLSIdentityError.needsPassphrase) { try certificate.identity() }
        #expect(throws: TLSIdentityError.wrongPassphrase) { try certificate.identity(passphrase: "other") }
        _ = try certificate.identity(passphrase: "secret")
    }

    @Test func `must belong together`() async throws {
        let (one, two) = (try await TestCertificate(), try await TestCertificate())
        let certificates = try one.bytes(of: one.certificate)
        #expect(throws: TLSIdentityError.mismatch) {
            try TLSIdentity(certificates: certificates, key: try two.bytes(of: two.key))
        }
    }

    @Test func `must be PEM`() async throws {
        let one = try await TestCertificate()
        let (certificates, key) = (try one.bytes(of: one.certificate), try one.bytes(of: one.key))
        for bad in [[], Array("text".utf8), key, Array("-----BEGIN CERTIFICATE-----\nAAAA".utf8)] {
            #expect(throws: TLSIdentityError.noCertificate) { try TLSIdentity(certificates: bad, key: key) }
        }
        for bad in [[], Array("text".utf8), certificates, Array("-----BEGIN PRIVATE KEY-----\nAAAA".utf8)] {
            #expect(throws: TLSIdentityError.noKey) { try TLSIdentity(certificates: certificates, key: bad) }
        }
    }
}
