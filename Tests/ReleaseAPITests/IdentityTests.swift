import HTTPCore
import PatchFormat
import PatchCrypto
import Testing

@testable import ReleaseAPI

@Suite("A server's word on who it is", .timeLimit(.minutes(10)))
struct IdentityTests {
    private static let nonce = String(repeating: "5e", count: 32)

    @Test func `proves that it knows a token, to whoever has none yet`() async throws {
        try await RunningOperators.with { operators in
            let token = try #require(TokenText(operators.token))
            let nonce = try #require(Hex.bytes(Self.nonce))
            let proof = TokenProof.make(token, nonce: nonce).hex
            let path = "/api/v1/identity?token=\(token.id)&nonce=\(Self.nonce)"
            let known = try await operators.response(to: Self.get(path))
            #expect(known.contains(#"{"format":"patchline-identity-v1","proof":"\#(proof)"}"#), "\(known)")
            let other = "/api/v1/identity?token=5e5e5e5e5e5e5e5e&nonce=\(Self.nonce)"
            let unknown = try await operators.response(to: Self.get(other))
            #expect(unknown.contains("\r\n\r\n{\"format\":\"patchline-identity-v1\"}"), "\(unknown)")
        }
    }

    @Test(arguments: [
        (["Host: 127.0.0.1:8081"], true), (["Host: localhost"], true), (["Host: patches.example.com"], false),
        (["Host: 127.0.0.1", "X-Forwarded-For: 192.0.2.1"], false), (["Host: 127.0.0.1", "Forwarded: for=_x"], false),
        (["Host: 127.0.0.1", "X-Real-IP: 192.0.2.1"], false), (["Host: 127.0.0.1", "Via: 1.1 x"], false),
    ])
    func `names its apps on its own machine alone`(fields: [String], names: Bool) async throws {
        try await RunningOperators.with { operators in
            let response = try await operators.response(to: Self.get("/api/v1/identity?app=a", fields))
            let expected =
                names
                ? #"{"apps":[],"format":"patchline-identity-v1","hasApp":false}"#
                : #"{"format":"patchline-identity-v1","hasApp":false}"#
            #expect(response.contains("\r\n\r\n\(expected)"), "\(response)")
        }
    }

    @Test(arguments: [
        (["Host: 127.0.0.1:8081"], 200), (["Host: localhost"], 200), (["Host: [::1]:8081"], 200),
        (["Host: evil.example"], 421), (["Host: 127.0.0.1", "Origin: http://127.0.0.1"], 200),
        (["Host: 127.0.0.1", "Origin: http://evil.example"], 403),
    ])
    func `is under the listener's own names, also for its pages`(fields: [String], status: Int) async throws {
        let names = ListenerNames(boundTo: "127.0.0.1", hasTLS: false)
        try await RunningOperators.with(names: names) { operators in
            for page in ["/healthz", "/metrics"] {
                let response = try await operators.response(to: Self.get(page, fields))
                #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(page): \(response)")
                let words = [
                    421: "This listener accepts only localhost and IP addresses as its name.",
                    403: "Requests from pages of other origins are rejected.",
                ]
                #expect(response.contains(words[status] ?? ""))
            }
            // With a token, or for what tells nothing, every name will do: that of a proxy, too.
            let api = try await operators.response(to: Self.get("/api/v1/openapi.json", fields))
            #expect(api.hasPrefix("HTTP/1.1 200 "))
        }
    }

    private static func get(_ path: String, _ fields: [String] = ["Host: 127.0.0.1"]) -> String {
        "GET \(path) HTTP/1.1\r\nConnection: close\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n"
    }
}
