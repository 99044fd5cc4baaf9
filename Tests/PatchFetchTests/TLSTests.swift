import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import PatchFormat
import Testing

@testable import PatchFetch

@Suite("A server over TLS", .timeLimit(.minutes(10)))
struct TLSTests {
    /// What one fetch from it comes to, and how many requests the server saw.
    private func fetch(
        from identity: TestAuthority.Identity?,
        trusting trust: TLSTrust,
        scheme: String = "https",
        host: String = "127.0.0.1"
    ) async throws -> (error: FetchError?, requests: Int) {
        try await RawServer.running(tls: identity?.context) { _ in
            .bytes(.answer("200 OK", [], "{}"))
        } _: { server in
            var settings = HTTPFetcher.Settings.patient
            settings.trust = trust
            return try await HTTPFetcher.with([server.url(scheme, host: host)], app: RawServer.app, settings) {
                sources in
                do throws(FetchError) {
                    _ = try await sources[0].fetcher.bytes("x", limit: 10, deadline: .seconds(600))
                    return (nil, server.heads.count)
                } catch { return (error, server.heads.count) }
            }
        }
    }

    @Test func `whose own authority is named is talked to, and not without it`() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.identity()
        let trusted = try await fetch(from: identity, trusting: TLSTrust(authorities: authority.pem, pins: []))
        #expect(trusted.error == nil && trusted.requests == 1)
        let unknown = FetchError.tls(.unknownIssuer(host: "127.0.0.1"))
        let system = try await fetch(from: identity, trusting: TLSTrust())
        #expect(system.error == unknown && system.requests == 0)
        let other = try await TestAuthority()
        let another = try await fetch(from: identity, trusting: TLSTrust(authorities: other.pem, pins: []))
        #expect(another.error == unknown && another.requests == 0)
    }

    @Test func `is vouched for by the system's roots where no authority is named`() async throws {
        var configuration = HTTPClient.Configuration()
        TLSTrust().apply(to: &configuration)
        let system = try #require(configuration.tlsConfiguration)
        #expect(system.trustRoots == .default && system.certificateVerification == .fullVerification)
        let authority = try await TestAuthority()
        try TLSTrust(authorities: authority.pem, pins: []).apply(to: &configuration)
        #expect(configuration.tlsConfiguration?.trustRoots != .default, "an own one stands in their place")
    }

    @Test func `whose certificate is for another name is not talked to`() async throws {
        let authority = try await TestAuthority()
        for name in ["DNS:updates.test", "IP:127.0.0.2"] {
            let identity = try await authority.identity(name)
            let found = try await fetch(from: identity, trusting: TLSTrust(authorities: authority.pem, pins: []))
            #expect(found.error == .tls(.wrongHostName(host: "127.0.0.1")) && found.requests == 0, "\(name)")
        }
    }

    @Test func `whose certificate has expired is not talked to`() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.identity(days: -1)
        let found = try await fetch(from: identity, trusting: TLSTrust(authorities: authority.pem, pins: []))
        guard case .tls(.expired("127.0.0.1", let time))? = found.error else {
            Issue.record("\(String(describing: found.error))")
            return
        }
        #expect(time < PeerChain.now && found.requests == 0)
    }

    @Test func `is talked to in TLS 1.2 at least`() async throws {
        let authority = try await TestAuthority()
        let trust = try TLSTrust(authorities: authority.pem, pins: [])
        let new = try await authority.identity { $0.maximumTLSVersion = .tlsv12 }
        #expect(try await fetch(from: new, trusting: trust).error == nil)
        let old = try await authority.identity {
            ($0.minimumTLSVersion, $0.maximumTLSVersion) = (.tlsv1, .tlsv11)
        }
        let refused = try await fetch(from: old, trusting: trust)
        guard case .tls(.handshake("127.0.0.1", _))? = refused.error else {
            Issue.record("\(String(describing: refused.error))")
            return
        }
        #expect(refused.requests == 0)
    }

    @Test func `is talked to by its DNS names alone where its URL has a name`() async throws {
        let authority = try await TestAuthority()
        let trust = try TLSTrust(authorities: authority.pem, pins: [])
        for name in ["IP:127.0.0.1", "DNS:updates.test,IP:127.0.0.1", "email:localhost@localhost"] {
            let identity = try await authority.identity(name, subject: "/CN=localhost")
            let found = try await fetch(from: identity, trusting: trust, host: "localhost")
            #expect(found.error == .tls(.wrongHostName(host: "localhost")) && found.requests == 0, "\(name)")
        }
        let bare = try await authority.identity(nil, subject: "/CN=localhost")
        let found = try await fetch(from: bare, trusting: trust, host: "localhost")
        #expect(found.error == .tls(.wrongHostName(host: "localhost")) && found.requests == 0)
        let named = try await authority.identity("DNS:localhost", subject: "/CN=other")
        #expect(try await fetch(from: named, trusting: trust, host: "localhost").error == nil)
        let unnamed = try await fetch(from: named, trusting: trust)
        #expect(unnamed.error == .tls(.wrongHostName(host: "127.0.0.1")) && unnamed.requests == 0)
    }

    @Test func `is talked to in HTTP 1.1, whatever else it offers`() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.identity { $0.applicationProtocols = ["h2", "http/1.1"] }
        let found = try await fetch(from: identity, trusting: TLSTrust(authorities: authority.pem, pins: []))
        #expect(found.error == nil && found.requests == 1)
    }

    @Test func `that does not answer the handshake is given up on after the time for a connection`() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        // The system takes the connection; nobody ever reads from it.
        let deaf = try await ServerBootstrap(group: group)
            .serverChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        let server = try #require(ServerURL("https://127.0.0.1:\(deaf.localAddress?.port ?? 0)"))
        var settings = HTTPFetcher.Settings.patient
        settings.deadlines.connect = .milliseconds(100)
        let error = await HTTPFetcher.with([server], app: RawServer.app, settings) { sources in
            await #expect(throws: FetchError.self) {
                try await sources[0].fetcher.bytes("x", limit: 10, deadline: .seconds(600))
            }
        }
        // By the client's own choice of words.
        let reasons = ["no TLS handshake with 127.0.0.1 in time", "no connection to 127.0.0.1 in time"]
        #expect(reasons.map { .connection("x", reason: $0) }.contains(error), "\(String(describing: error))")
        try await group.shutdownGracefully()
    }

    @Test func `that does not speak it is named`() async throws {
        let found = try await fetch(from: nil, trusting: TLSTrust())
        #expect(found.error == .tls(.notTLS(host: "127.0.0.1")) && found.requests == 0)
    }

    @Test func `whose key is pinned is talked to, and with another key it is sent nothing`() async throws {
        let authority = try await TestAuthority()
        let (identity, other) = (try await authority.identity(), try await authority.identity())
        let right = try TLSTrust(authorities: authority.pem, pins: [other.pin, identity.pin])
        let pinned = try await fetch(from: identity, trusting: right)
        #expect(pinned.error == nil && pinned.requests == 1)
        let wrong = try await fetch(
            from: identity,
            trusting: TLSTrust(authorities: authority.pem, pins: [other.pin])
        )
        #expect(wrong.error == .tls(.pinMismatch(found: identity.pin)) && wrong.requests == 0)
    }

    @Test func `needs its name, its dates and its authority also where its key is pinned`() async throws {
        let authority = try await TestAuthority()
        let named = try await authority.identity("DNS:updates.test")
        let trust = try TLSTrust(authorities: authority.pem, pins: [named.pin])
        #expect(try await fetch(from: named, trusting: trust).error == .tls(.wrongHostName(host: "127.0.0.1")))
        let unknown = try await authority.identity()
        #expect(
            try await fetch(from: unknown, trusting: TLSTrust(authorities: nil, pins: [unknown.pin])).error
                == .tls(.unknownIssuer(host: "127.0.0.1"))
        )
    }

    @Test func `is not asked without TLS where a key or an authority is set`() async throws {
        let authority = try await TestAuthority()
        let pin = PublicKeyPin(digest: .zero)
        for trust in [
            try TLSTrust(authorities: nil, pins: [pin]), try TLSTrust(authorities: authority.pem, pins: []),
        ] {
            let found = try await fetch(from: nil, trusting: trust, scheme: "http")
            #expect(found.error == .tls(.notEncrypted(host: "127.0.0.1")) && found.requests == 0)
        }
    }

    @Test func `has a key that is written in one way`() {
        let text = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        #expect(PublicKeyPin(text)?.description == text)
        for bad in [
            "", "sha256/", "sha1/AAAA", "sha256/AAAA", String(text.dropLast()), text + " ", "sha256/====", "AAAA",
        ] {
            #expect(PublicKeyPin(bad) == nil, "\(bad)")
        }
    }

    @Test(arguments: [[], Array("text".utf8), Array("-----BEGIN CERTIFICATE-----\nAAAA\n".utf8)] as [[UInt8]])
    func `has authorities that are certificates`(pem: [UInt8]) {
        #expect(throws: TLSFault.noAuthority) { try TLSTrust(authorities: pem, pins: []) }
    }

    @Test func `that was refused is told about by the first of its certificates that is out of date`() {
        let now = UTCTime(seconds: 1_000)
        let good = PeerChain.Validity(begin: UTCTime(seconds: 0), end: UTCTime(seconds: 2_000))
        let old = PeerChain.Validity(begin: UTCTime(seconds: 0), end: UTCTime(seconds: 999))
        let early = PeerChain.Validity(begin: UTCTime(seconds: 1_001), end: UTCTime(seconds: 2_000))
        #expect(TLSFault(refused: [good, old], host: "h", now: now) == .expired(host: "h", at: old.end))
        #expect(TLSFault(refused: [early, good], host: "h", now: now) == .notYetValid(host: "h", until: early.begin))
        #expect(TLSFault(refused: [good], host: "h", now: now) == .unknownIssuer(host: "h"))
        #expect(TLSFault(refused: [], host: "h", now: now) == .unknownIssuer(host: "h"))
    }
}
