import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchFormat
import PatchCrypto
import PatchTrust
import Testing

@testable import ReleaseClient

/// What answers at the address of a service, and notes what it is sent.
private struct AskedServer: FileSource {
    /// The answer to the question who it is; nil for a server that does not know the question.
    let identity: (@Sendable (_ query: [String: String]) -> FileAnswer)?
    let seen = NIOLockedValueBox<[(path: String, token: String?)]>([])

    func decide(_ request: FileRequest) -> FileDecision { .later(.whole, answer) }

    private func answer(_ request: FileRequest) -> FileAnswer {
        seen.withLockedValue { $0.append((request.path.text, request.headers.first(name: "Authorization"))) }
        guard request.path.text == "/api/v1/identity" else {
            return Self.json(#"{"apps":[]}"#)
        }
        var query: [String: String] = [:]
        for pair in request.query?.split(separator: "&") ?? [] {
            let halves = pair.split(separator: "=", maxSplits: 1).map(String.init)
            query[halves[0]] = halves.last
        }
        return identity?(query) ?? .notFound
    }

    static func json(_ text: String, _ status: HTTPResponseStatus = .ok) -> FileAnswer {
        .bytes(ServedBytes(status: status, bytes: Array(text.utf8), contentType: "application/json"))
    }

    /// Answers as the server of this app and token does.
    static func of(_ app: String, _ token: TokenText?, root: String? = nil, more: String = "") -> AskedServer {
        AskedServer { query in
            let nonce = Hex.bytes(query["nonce"] ?? "") ?? []
            let knows = token?.id == query["token"] ? token : nil
            let proof = knows.map { #","proof":"\#(TokenProof.make($0, nonce: nonce).hex)""# } ?? ""
            let rootText = root.map { #","rootSHA256":"\#($0)""# } ?? ""
            let hasApp = query["app"].map { #","hasApp":\#($0 == app)"# } ?? ""
            return json(#"{"format":"patchline-identity-v1"\#(hasApp)\#(proof)\#(rootText)\#(more)}"#)
        }
    }
}

@Suite("A token", .timeLimit(.minutes(10)))
struct ServerIdentityTests {
    private static let token = TokenText(id: Array(repeating: 7, count: 8), secret: Array(repeating: 9, count: 32))
    private static let other = TokenText(id: Array(repeating: 7, count: 8), secret: Array(repeating: 8, count: 32))
    private let app = "com.example.x"

    /// The error of one request, and every token that the server received.
    private func asking(
        _ server: AskedServer,
        _ path: String = "/apps/com.example.x",
        times: Int = 1
    ) async throws -> (error: ServiceError?, tokens: [String], paths: [String], url: String) {
        let token = try #require(ServiceToken(Self.token.text))
        let (error, url) = try await server.asked(with: token) {
            client throws(ServiceError) -> (ServiceError?, String) in
            do throws(ServiceError) {
                for _ in 0..<times { _ = try await client.look(path) }
                return (nil, client.server.text)
            } catch { return (error, client.server.text) }
        }
        let seen = server.seen.withLockedValue(\.self)
        return (error, seen.compactMap(\.token), seen.map(\.path), url)
    }

    @Test func `goes to the server that has the app and knows the token, which is asked once`() async throws {
        let asked = try await asking(.of(app, Self.token), times: 3)
        #expect(asked.error == nil)
        #expect(asked.tokens == Array(repeating: "Bearer \(Self.token.text)", count: 3))
        #expect(asked.paths == ["/api/v1/identity"] + Array(repeating: "/api/v1/apps/com.example.x", count: 3))
    }

    @Test func `never goes to a server that has another app`() async throws {
        let here = try await asking(.of("com.example.y", Self.token, more: #","apps":["com.example.y"]"#))
        #expect(here.tokens == [])
        #expect(
            here.error?.description
                == "the server at \(here.url) has com.example.y, not com.example.x; the token was not sent"
        )
        let many = (1...7).map { #""a\#($0)""# }.joined(separator: ",")
        let several = try await asking(.of("a1", Self.token, more: #","apps":[\#(many)]"#))
        #expect(several.error?.description.contains(" has a1, a2, a3, a4, a5 and 2 more, not com.example.x;") == true)
        let far = try await asking(.of("com.example.y", Self.token))
        #expect(far.tokens == [])
        #expect(
            far.error?.description == "the server at \(far.url) does not have com.example.x; the token was not sent"
        )
    }

    @Test func `never goes to a server that does not know it, whatever the request is about`() async throws {
        for path in ["/apps/com.example.x", "/tokens", "/apps"] {
            let unknown = try await asking(.of(app, nil), path)
            #expect(unknown.tokens == [])
            let problem = ServiceProblem(
                status: 401,
                kind: "unauthorized",
                detail: "this server does not know the token"
            )
            #expect(unknown.error == .problem(problem))
            let lying = try await asking(.of(app, Self.other), path)
            #expect(lying.tokens == [])
            #expect(
                lying.error?.description
                    == "the server at \(lying.url) cannot prove that it knows the token; the token was not sent"
            )
        }
    }

    @Test func `does not go without TLS to what does not say which apps it has`() async throws {
        let problem = #"{"title":"notFound","detail":"There is nothing here.","status":404}"#
        for answer in [
            AskedServer.json(problem, .notFound), AskedServer.json("<html>"), AskedServer.json(#"{"format":"x"}"#),
        ] {
            let asked = try await asking(AskedServer { _ in answer })
            #expect(asked.tokens == [])
            #expect(
                asked.error?.description
                    == "the server at \(asked.url) does not identify itself; the token was not sent"
            )
        }
        let devices = try await asking(AskedServer(identity: nil))
        #expect(devices.tokens == [] && devices.error?.description == "the server answered 404")
    }

    @Test(arguments: [
        (String(repeating: "ab", count: 32), true), (String(repeating: "cd", count: 32), false), (nil, true),
    ])
    func `goes to a server with the same root of trust, or with an older one`(root: String?, goes: Bool) async throws {
        let known = IdentityQuestion.KnownRoot(
            version: 3,
            sha256: try #require(SHA256Digest(hex: String(repeating: "ab", count: 32)))
        )
        let server = AskedServer.of(app, Self.token, root: root)
        let token = try #require(ServiceToken(Self.token.text))
        let name = try #require(AppID(app))
        let error = try await server.asked(with: token) { client throws(ServiceError) -> ServiceError? in
            do throws(ServiceError) {
                try await client.identify(name, root: known)
                return nil
            } catch { return error }
        }
        let text = "has another com.example.x: its root of trust 3 differs from yours; the token was not sent"
        #expect(error?.description.hasSuffix(text) == (goes ? nil : true))
    }

    /// HMAC-SHA256, test case 2 of RFC 4231.
    @Test func `is proved by HMAC of the digest of its secret`() {
        let mac = TokenProof.mac(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        #expect(mac.hex == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let nonce = Array(repeating: UInt8(1), count: 32)
        #expect(TokenProof.make(Self.token, nonce: nonce) != TokenProof.make(Self.other, nonce: nonce))
        #expect(TokenProof.make(Self.token, nonce: nonce) != TokenProof.make(Self.token, nonce: nonce + [0]))
    }
}
