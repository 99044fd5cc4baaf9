import HTTPFiles
import HTTPTesting
import NIOCore
import Testing

@Suite("TLS", .timeLimit(.minutes(10)))
struct TLSRulesTests {
    static let refused = [
        "AES128-SHA", "AES256-SHA", "AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA",
        "ECDHE-RSA-AES128-SHA256",
    ]
    static let taken = ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"]

    @Test func `of a server takes ECDHE with AEAD and 1.3 from openssl s_client, and nothing else`() async throws {
        let certificate = try await Certificate(names: "IP:127.0.0.1")
        let identity = try TLSIdentity(certificates: certificate.pem, key: certificate.pem)
        try await serving(NothingHere(), tls: identity) { port in
            let suites = Self.refused.map { ($0, false) } + Self.taken.map { ($0, true) }
            for (suite, isTaken) in suites {
                let said = try await openssl(
                    "s_client",
                    "-connect",
                    "127.0.0.1:\(port)",
                    "-tls1_2",
                    "-cipher",
                    "\(suite):@SECLEVEL=0"
                )
                #expect(said.contains("Cipher is \(suite)") == isTaken, "\(suite): \(said)")
                #expect(said.contains("handshake failure") != isTaken, "\(suite): \(said)")
            }
            let new = try await openssl("s_client", "-connect", "127.0.0.1:\(port)", "-tls1_3")
            #expect(new.contains("New, TLSv1.3, Cipher is TLS_"), "\(new)")
        }
    }

    @Test(arguments: [("AES128-SHA", false), ("ECDHE-RSA-AES128-SHA", false), ("ECDHE-RSA-AES128-GCM-SHA256", true)])
    func `of each client takes the same from openssl s_server`(suite: String, isTaken: Bool) async throws {
        let certificate = try await Certificate(names: "IP:127.0.0.1")
        let options = ["-tls1_2", "-cipher", "\(suite):@SECLEVEL=0"]
        try await certificate.served(options) { port in
            for client in TestedClient.allCases {
                let fault = try await client.asks("https://127.0.0.1:\(port)", trusting: certificate.pem)
                #expect((fault == nil) == isTaken, "\(client): \(fault ?? "taken")")
                if let fault { #expect(fault.contains("HANDSHAKE_FAILURE") || fault == "tls", "\(client): \(fault)") }
            }
        }
    }

    @Test func `of each client takes 1_3`() async throws {
        let certificate = try await Certificate(names: "IP:127.0.0.1")
        try await certificate.served(["-tls1_3"]) { port in
            for client in TestedClient.allCases {
                let fault = try await client.asks("https://127.0.0.1:\(port)", trusting: certificate.pem)
                #expect(fault == nil, "\(client): \(fault ?? "")")
            }
        }
    }

    @Test(arguments: [
        ("IP:127.0.0.1", false), (nil, false), ("DNS:updates.test,IP:127.0.0.1", false), ("DNS:localhost", true),
    ])
    func `of each client knows a name by the certificate's DNS names alone`(names: String?, isTaken: Bool) async throws
    {
        let certificate = try await Certificate(commonName: "localhost", names: names)
        try await certificate.served([]) { port in
            for client in TestedClient.allCases {
                let fault = try await client.asks("https://localhost:\(port)", trusting: certificate.pem)
                #expect((fault == nil) == isTaken, "\(client): \(fault ?? "taken")")
                if let fault { #expect(fault.contains("for another name") || fault == "tls", "\(client): \(fault)") }
            }
        }
    }
}

private struct NothingHere: FileSource {
    func decide(_ request: FileRequest) -> FileDecision { .now(PreparedReply(.notFound)) }
}
