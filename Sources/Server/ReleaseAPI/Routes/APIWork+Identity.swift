import HTTPAPI
import NIOHTTP1
import PatchCrypto
import PatchFormat
import PatchServer
import PatchTrust
import ReleaseService
import ServerRecords

/// A client's request before it sends its token, so that another server on the same port never receives it.
extension APIWork {
    var aboutIdentity: [OperatorRoute] {
        [
            OperatorRoute(
                method: .GET,
                path: "/identity",
                name: "identify",
                about: """
                    Whether this is the server of an app and of a token. Needs no token, so that a client can ask before it \
                    sends one. It answers yes or no; only callers on the same machine receive names of apps.
                    """,
                access: .everybody,
                query: [
                    .init(name: "app", about: "The app that the caller means.", schema: .app),
                    .init(name: "root", about: "A version of its root of trust.", schema: .positive),
                    .init(name: "token", about: "The id of the caller's token: 16 hex digits.", schema: .proposal),
                    .init(name: "nonce", about: "With token: 64 random hex digits.", schema: .sha256),
                ],
                answers: [
                    .init(
                        status: 200,
                        about: """
                            `hasApp` answers `app`. `rootSHA256` is the digest of the signed part of that root, if it is \
                            published. `proof` is the HMAC-SHA256 of the nonce, keyed with the digest of the token's secret; it is \
                            missing if the server does not know the token.
                            """,
                        schema: .object(
                            [("format", .one(of: [Self.identityFormat]))],
                            optional: [
                                ("hasApp", .bool), ("rootSHA256", .sha256), ("proof", .sha256), ("apps", .array(.app)),
                            ]
                        )
                    )
                ],
                work: identify
            )
        ]
    }

    static let identityFormat = "patchline-identity-v1"

    @Sendable private func identify(_ call: APICall) async throws -> APIAnswer {
        let app = try call.query("app", as: AppID.self)
        let root = try call.query("root", in: 1...(1 << 53 - 1))
        let proof = try await proof(for: call)
        let apps = try allApps()
        let hasApp = app.map(apps.contains)
        var rootSHA256: SHA256Digest?
        if let app, let root, hasApp == true { rootSHA256 = try await digest(ofRoot: root, of: app) }
        let others = hasApp == false && call.isFromThisMachine ? apps.sorted() : nil
        return .json(
            .fields([
                ("format", .text(Self.identityFormat)), ("hasApp", hasApp.map { .bool($0) }),
                ("rootSHA256", rootSHA256.map { .text($0.hex) }), ("proof", proof.map { .text($0.hex) }),
                ("apps", others.map { .array($0.map { .text($0.text) }) }),
            ])
        )
    }

    private func proof(for call: APICall) async throws -> SHA256Digest? {
        let (id, text) = (try call.queryText("token"), try call.queryText("nonce"))
        if id == nil, text == nil { return nil }
        guard let nonce = text.flatMap({ Hex.bytes($0) }), nonce.count == TokenProof.nonceBytes else {
            throw APIProblem.badRequest("nonce must be 64 lowercase hex digits")
        }
        guard let id else { return nil }
        guard id.utf8.count == 16, Hex.bytes(id) != nil else {
            throw APIProblem.badRequest("token must be 16 lowercase hex digits")
        }
        return try await records.proof(ofToken: id, nonce: nonce)
    }

    private func digest(ofRoot version: Int, of app: AppID) async throws -> SHA256Digest? {
        guard let bytes = try await operations.published(.root(version: version), of: app) else { return nil }
        return try? Envelope(bytes, role: "root", limit: Limits.targetsRole).identity
    }
}
