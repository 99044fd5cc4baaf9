package import PatchFormat
import PatchCrypto

extension ServerRecords {
    /// The result of checking a token.
    package enum Admission: Equatable, Sendable {
        case admitted(APIToken)
        /// The token does not exist or its secret is wrong. The caller does not learn which.
        case unknown
        case expired
        case revoked
    }

    package func admission(of text: TokenText) async throws(RecordError) -> Admission {
        guard let record = try await store.record(RecordKey(APIToken.collection, text.id)) else { return .unknown }
        let token = try APIToken(record)
        guard text.belongs(to: token) else { return .unknown }
        switch token.status(at: try await referenceTime()) {
        case .valid: return .admitted(token)
        case .expired: return .expired
        case .revoked: return .revoked
        }
    }

    /// Proves that this server knows a token, valid or not.
    ///
    /// - Returns: Nil if it does not know the token.
    package func proof(ofToken id: String, nonce: [UInt8]) async throws(RecordError) -> SHA256Digest? {
        guard let token = try await token(id) else { return nil }
        return TokenProof.make(id: token.id, secretDigest: token.secretDigest, nonce: nonce)
    }

    /// Makes a token under a name that no valid token has.
    ///
    /// - Returns: The token, and the only copy of its text.
    /// - Throws: `nameTaken` if a valid token has that name, also if another process makes one at the same time.
    package func makeToken(
        name: String,
        grants: [AccessGrant],
        for lifetime: Duration,
        by actor: Actor
    ) async throws(RecordError) -> (token: APIToken, text: TokenText) {
        let time = try await referenceTime()
        let made = TokenText.make(
            name: name,
            grants: grants,
            by: actor.text,
            at: time,
            expires: time.adding(lifetime)
        )
        let key = RecordKey(Self.names, name)
        while true {
            // Read before the tokens, so that the commit fails if the name is used meanwhile.
            let reserved = try await store.record(key)
            if let other = try await tokens().first(where: { $0.name == name && $0.status(at: time) == .valid }) {
                throw .nameTaken(name, id: other.id)
            }
            let value = JSON.fields([("format", .text(Self.nameFormat)), ("token", .text(made.token.id))])
            do throws(RecordError) {
                try await commit(
                    [
                        .insert(made.token.key, made.token.value),
                        reserved.map { .replace($0, with: value) } ?? .insert(key, value),
                    ],
                    noting: AuditEntry.Event("token.create", by: actor, after: made.token.json(at: time))
                )
                return made
            } catch .conflict(key) { continue }
        }
    }

    /// The last token made with each name.
    ///
    /// Tokens of earlier versions have no record here and may share a name.
    private static let names = "token-name"
    private static let nameFormat = "patchline-token-name-v1"

    /// All tokens, including expired and revoked ones.
    package func tokens() async throws(RecordError) -> [APIToken] {
        var tokens: [APIToken] = []
        for record in try await store.records(RecordRange(APIToken.collection, limit: 10_000)) {
            tokens.append(try APIToken(record))
        }
        return tokens.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    }

    package func token(_ id: String) async throws(RecordError) -> APIToken? {
        guard let record = try await store.record(RecordKey(APIToken.collection, id)) else { return nil }
        return try APIToken(record)
    }

    /// Revokes a token, or returns nil if it does not exist.
    package func revokeToken(_ id: String, by actor: Actor) async throws(RecordError) -> APIToken? {
        guard let record = try await store.record(RecordKey(APIToken.collection, id)) else { return nil }
        let token = try APIToken(record)
        let time = try await referenceTime()
        guard token.status(at: time) != .revoked else { return token }
        let revoked = token.revoked(at: time)
        try await commit(
            [.replace(record, with: revoked.value)],
            noting: AuditEntry.Event(
                "token.revoke",
                by: actor,
                before: token.json(at: time),
                after: revoked.json(at: time)
            )
        )
        return revoked
    }
}
