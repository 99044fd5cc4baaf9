import Testing

/// What makes a whole release worthless: nothing of it is taken, and release 1 runs on.
@Suite("A forged role or list")
struct ForgedRoleTests {
    @Test(arguments: [
        Forgery(
            "other_key|timestamp",
            "timestamp: 0 valid signatures of 1 needed",
            judge: "timestamp.json: timestamp was signed by 0/1"
        ),
        Forgery("other_key|snapshot", "snapshot: 0 valid signatures of 1 needed", judge: "snapshot was signed by 0/1"),
        Forgery("other_key|targets", "targets: 0 valid signatures of 1 needed", judge: "targets was signed by 0/1"),
        Forgery(
            "other_key|production",
            "production: 0 valid signatures of 1 needed",
            judge: "production was signed by 0/1"
        ),
        Forgery(
            "entry_key_altered",
            "must be the SHA-256 of its key's canonical JSON",
            judge: "is not the digest of its key",
            code: 4
        ),
        Forgery(
            "list_role_unsigned",
            "production/patchlist.json: its sha256 is not the signed one",
            judge: "bytes are not those the role names"
        ),
        Forgery(
            "list_header|app|com.example.other",
            "is for app com.example.other, not com.example.pipeline",
            judge: "manifest says app"
        ),
        Forgery("list_header|channel|beta", "is for channel beta, not production", judge: "channel 'beta'"),
        Forgery(
            "list_header|format|patchline-list-v9",
            "production/patchlist.json: format must be patchline-list-v1",
            judge: "patchline-list-v9",
            code: 4
        ),
        Forgery(
            "list_text|\"serial\":2|\"serial\":2.0",
            "production/patchlist.json has a number with a fraction or an exponent",
            judge: "float",
            code: 4
        ),
        Forgery(
            "dropped_role",
            "production: is missing from the snapshot, which listed it before",
            judge: "production.json"
        ),
        Forgery(
            "role_outside_its_paths",
            "production/patchlist.json: this path is not delegated to role production",
            judge: "outside the paths"
        ),
    ])
    func `is refused as a whole`(_ forgery: Forgery) async throws {
        try await forgery.expect(taken: .nothing)
    }

    @Test(arguments: [
        Forgery("expired|timestamp", "timestamp: expired at 2020-01-01T00:00:00Z", judge: "timestamp.json: expired"),
        Forgery("expired|snapshot", "snapshot: expired at 2020-01-01T00:00:00Z", judge: "snapshot.json: expired"),
        Forgery("expired|targets", "targets: expired at 2020-01-01T00:00:00Z", judge: "targets.json: expired"),
        Forgery("expired|production", "production: expired at 2020-01-01T00:00:00Z", judge: "production.json: expired"),
        Forgery("expired|root", "root: expired at 2020-01-01T00:00:00Z", judge: "root: expired"),
    ])
    func `that expired brings nothing new`(_ forgery: Forgery) async throws {
        try await forgery.expect(taken: .nothing)
    }
}
