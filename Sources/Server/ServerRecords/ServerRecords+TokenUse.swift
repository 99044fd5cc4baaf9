package import PatchFormat

/// The times of each token's last use, to find tokens that are no longer needed.
///
/// The time is written once an hour at most, in a record beside the token. It has no entry in the audit log, because it is not an
/// operator's change.
extension ServerRecords {
    private static let uses = "token-use"
    private static let format = "patchline-token-use-v1"

    /// The minimum time between two recorded uses.
    package static let useStep = Duration.seconds(3_600)

    /// - Throws: `conflict` if another process has just written the same record.
    package func noteUse(of token: APIToken) async throws(RecordError) {
        let key = RecordKey(Self.uses, token.id)
        let record = try await store.record(key)
        let time = now()
        if let record, let last = Self.time(of: record), last <= time, last.adding(Self.useStep) > time { return }
        let value = JSON.fields([("format", .text(Self.format)), ("lastUsed", .text(time.description))])
        try await store.commit([record.map { .replace($0, with: value) } ?? .insert(key, value)])
    }

    /// The public fields of the tokens, oldest first, with the time of each last use.
    package func tokenList(of isShown: (APIToken) -> Bool) async throws(RecordError) -> JSON {
        let time = try await referenceTime()
        var uses: [String: UTCTime] = [:]
        for record in try await store.records(RecordRange(Self.uses, limit: 10_000)) {
            uses[record.key.name] = Self.time(of: record)
        }
        var rows: [JSON] = []
        for token in try await tokens() where isShown(token) {
            guard var row = token.json(at: time).object else { continue }
            row["lastUsed"] = uses[token.id].map { .text($0.description) }
            rows.append(.object(row))
        }
        return .fields([("tokens", .array(rows))])
    }

    private static func time(of record: Record) -> UTCTime? {
        try? Fields(record.value, of: "token use").time("lastUsed")
    }
}
