package import PatchFormat

extension ServerRecords {
    /// What became of a token that somebody showed.
    package enum Admission: Equatable, Sendable {
        case admitted(AccessToken)
        /// No such token, or another secret: who asks is not told which.
        case unknown
        case expired
        case revoked
    }

    package func admission(of text: TokenText) async throws(RecordError) -> Admission {
        guard let record = try await store.record(RecordKey(AccessToken.collection, text.id)) else { return .unknown }
        let token = try AccessToken(record)
        guard text.belongs(to: token) else { return .unknown }
        switch token.standing(at: try await referenceTime()) {
        case .valid: return .admitted(token)
        case .expired: return .expired
        case .revoked: return .revoked
        }
    }

    /// - Returns: the token, and the only copy of its text.
    package func makeToken(
        name: String,
        grants: [AccessGrant],
        for lifetime: Duration,
        by actor: Actor
    ) async throws(RecordError) -> (token: AccessToken, text: TokenText) {
        let time = try await referenceTime()
        let made = TokenText.make(
            name: name,
            grants: grants,
            by: actor.text,
            at: time,
            expires: time.adding(lifetime)
        )
        try await commit(
            [.insert(made.token.key, made.token.value)],
            noting: AuditEntry.Event("token.create", by: actor, after: made.token.json(at: time))
        )
        return made
    }

    /// All of them, those that hold no more too.
    package func tokens() async throws(RecordError) -> [AccessToken] {
        var tokens: [AccessToken] = []
        for record in try await store.records(RecordRange(AccessToken.collection, limit: 10_000)) {
            tokens.append(try AccessToken(record))
        }
        return tokens.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    }

    package func token(_ id: String) async throws(RecordError) -> AccessToken? {
        guard let record = try await store.record(RecordKey(AccessToken.collection, id)) else { return nil }
        return try AccessToken(record)
    }

    /// From now on nobody is let in with it; nil when there is no such token.
    package func revokeToken(_ id: String, by actor: Actor) async throws(RecordError) -> AccessToken? {
        guard let record = try await store.record(RecordKey(AccessToken.collection, id)) else { return nil }
        let token = try AccessToken(record)
        let time = try await referenceTime()
        guard token.standing(at: time) != .revoked else { return token }
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
