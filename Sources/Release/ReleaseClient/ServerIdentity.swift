import NIOHTTP1
import PatchFormat
import PatchTrust

/// The question that a server must answer before it receives a token.
struct IdentityQuestion: Sendable {
    /// Nil for requests that do not concern an app.
    let app: AppID?
    let root: KnownRoot?
    let tokenID: String
    let nonce: [UInt8]
    /// The proof of a server that knows the token.
    let proof: SHA256Digest

    /// A version of the app's root of trust that the caller knows.
    struct KnownRoot: Equatable, Sendable {
        let version: Int
        /// The digest of its signed part.
        let sha256: SHA256Digest
    }

    init(_ app: AppID?, root: KnownRoot?, token: ServiceToken, nonce: [UInt8]) {
        (self.app, self.root, self.nonce) = (app, root, nonce)
        (tokenID, proof) = (token.id, token.proof(nonce: nonce))
    }

    var request: ServiceRequest {
        let query = [
            ("app", app?.text), ("root", app == nil ? nil : root.map { "\($0.version)" }), ("token", tokenID),
            ("nonce", Hex.text(nonce)),
        ]
        let text = query.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: "&")
        var request = ServiceRequest(method: .GET, path: "/api/v1/identity?\(text)")
        request.limit = 1_000_000
        return request
    }
}

/// A server's answer to an ``IdentityQuestion``.
struct ServerIdentity: Equatable, Sendable {
    private static let format = "patchline-identity-v1"

    let hasApp: Bool
    let root: SHA256Digest?
    let proof: SHA256Digest?
    /// The apps that the server has instead.
    ///
    /// Reported only on the server's own machine.
    let apps: [AppID]

    /// Returns nil for the answer of another program.
    init?(_ bytes: [UInt8]) {
        guard let json = try? JSON.document(bytes, named: "answer", limit: ServiceRequest.documentLimit),
            let fields = try? Fields(json, of: "answer"), (try? fields.constant("format", Self.format)) != nil
        else { return nil }
        hasApp = (try? fields.bool("hasApp", default: false)) ?? false
        root = try? fields.digest("rootSHA256", as: SHA256Digest.self)
        proof = try? fields.digest("proof", as: SHA256Digest.self)
        apps = ((try? fields.strings("apps", limit: 10_000)) ?? []).compactMap { AppID($0) }
    }

    /// The reason why the token must not be sent; nil if this is the intended server.
    func fault(_ question: IdentityQuestion, at server: ServerURL) -> ServiceError? {
        if let app = question.app {
            guard hasApp else { return .otherApp(app, has: apps, at: server) }
            // A server that does not have this version yet is still the intended one.
            if let known = question.root, let root, root != known.sha256 {
                return .otherRoot(app, version: known.version, at: server)
            }
        }
        guard let proof else {
            let detail = "this server does not know the token"
            return .problem(ServiceProblem(status: 401, kind: "unauthorized", detail: detail))
        }
        return proof == question.proof ? nil : .notProven(server)
    }
}

extension ServiceRequest {
    /// The app that a request concerns.
    var app: AppID? {
        let prefix = "/api/v1/apps/"
        guard path.hasPrefix(prefix) else { return nil }
        return AppID(String(path.dropFirst(prefix.count).prefix { $0 != "/" && $0 != "?" }))
    }
}
