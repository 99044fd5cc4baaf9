import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("A role's document")
struct RoleParsingTests {
    static let key = "0000000000000000000000000000000000000000000000000000000000000000"

    /// What is wrong with the role that this vector becomes.
    static func error(_ file: String, setting place: String, to value: JSON?) throws -> FormatError? {
        let json = try Vectors.json("tuf/\(file)").setting("signed.\(place)", to: value)
        let name = String(file.split(separator: ".").dropLast().last ?? "")
        do throws(FormatError) {
            let envelope = try Envelope(json.fileBytes, role: name, limit: 1_000_000)
            switch name {
            case "root": _ = try RootRole(envelope)
            case "timestamp": _ = try TimestampRole(envelope)
            case "snapshot": _ = try SnapshotRole(envelope)
            default: _ = try TargetsRole(envelope, name: name)
            }
            return nil
        } catch { return error }
    }

    static let versionRule = "must be an integer from 1 to 9007199254740991"

    @Test(
        arguments: [
            ("_type", JSON?.some(.text("Timestamp")), "must be timestamp"), ("_type", nil, "must be a string"),
            ("spec_version", .some(.text("2.0.0")), "must be 1.x.y"),
            ("spec_version", .some(.text("1")), "must be 1.x.y"),
            ("spec_version", .some(.text("1.")), "must be 1.x.y"),
            ("spec_version", .some(.text("1.0.x")), "must be 1.x.y"),
            ("spec_version", .some(.text("")), "must be 1.x.y"),
            ("spec_version", .some(.text("10.0.0")), "must be 1.x.y"), ("spec_version", nil, "must be a string"),
            ("version", .some(.integer(0)), versionRule), ("version", .some(.integer(-1)), versionRule),
            ("version", .some(.text("1")), versionRule),
            ("version", nil, versionRule),
            ("expires", .some(.text("2099-01-01T00:00:00+00:00")), "must be YYYY-MM-DDTHH:MM:SSZ"),
            ("expires", .some(.text("2099-02-29T00:00:00Z")), "must be YYYY-MM-DDTHH:MM:SSZ"),
            ("expires", nil, "must be a string"),
            ("meta", nil, "must be an object"),
            ("meta", .some(.fields([])), "must hold snapshot.json and nothing else"),
            (
                "meta", .some(.fields([("a.json", .fields([])), ("snapshot.json", .fields([]))])),
                "must hold snapshot.json and nothing else"
            ),
            ("x-signed-at", .some(.text("now")), "must be YYYY-MM-DDTHH:MM:SSZ"),
        ] as [(String, JSON?, String)]
    )
    func `of a timestamp is refused by field and rule`(_ field: String, value: JSON?, rule: String) throws {
        #expect(
            try Self.error("timestamp.json", setting: field, to: value)
                == FormatError("timestamp", field: field, rule: rule)
        )
    }

    @Test(arguments: ["1.0", "1.0.0", "1.0.34", "1.99.0"])
    func `may be of any version 1 of the specification`(_ version: String) throws {
        #expect(try Self.error("timestamp.json", setting: "spec_version", to: .text(version)) == nil)
    }

    @Test func `of a timestamp may leave out when it was signed`() throws {
        #expect(try Self.error("timestamp.json", setting: "x-signed-at", to: nil) == nil)
    }

    @Test(
        arguments: [
            (JSON.fields([("version", .integer(0))]), "version", versionRule), (.fields([]), "version", versionRule),
            (
                .fields([("version", .integer(1)), ("length", .integer(0))]), "length",
                "must be an integer from 1 to 4000000000"
            ),
            (
                .fields([("version", .integer(1)), ("hashes", .fields([]))]), "hashes", "must hold 1 to 16 digests"
            ),
            (
                .fields([
                    ("version", .integer(1)), ("hashes", .fields((0...16).map { ("a\($0)", .text("00")) })),
                ]), "hashes", "must hold 1 to 16 digests"
            ),
            (
                .fields([("version", .integer(1)), ("hashes", .fields([("sha512", .text("00"))]))]), "hashes.sha512",
                "must be 128 lowercase hex digits"
            ),
            (
                .fields([
                    ("version", .integer(1)), ("hashes", .fields([("sha256", .text(key)), ("sha512", .integer(0))])),
                ]), "hashes.sha512", "must be a string"
            ),
            (
                .fields([("version", .integer(1)), ("hashes", .fields([("sha3-256", .text("abc"))]))]),
                "hashes.sha3-256", "must be an even number of lowercase hex digits"
            ),
            (
                .fields([("version", .integer(1)), ("hashes", .fields([("sha256", .text("AA"))]))]), "hashes.sha256",
                "must be 64 lowercase hex digits"
            ),
        ] as [(JSON, String, String)]
    )
    func `of a snapshot is refused for what it says of a role`(_ value: JSON, field: String, rule: String) throws {
        let meta = JSON.fields([("targets.json", value)])
        #expect(
            try Self.error("7.snapshot.json", setting: "meta", to: meta)
                == FormatError("snapshot", field: "meta.targets.json.\(field)", rule: rule)
        )
    }

    @Test func `of a snapshot names files that end in json`() throws {
        let meta = JSON.fields([("targets", .fields([("version", .integer(1))]))])
        #expect(
            try Self.error("7.snapshot.json", setting: "meta", to: meta)
                == FormatError("snapshot", field: "meta.targets", rule: "must end in .json")
        )
    }

    @Test(
        arguments: [
            ("roles.root.threshold", JSON?.some(.integer(0)), "must be an integer from 1 to 1000"),
            ("roles.root.threshold", nil, "must be an integer from 1 to 1000"),
            ("roles.root.keyids", .some(.array([.text("a"), .text("a")])), "must not name a key twice"),
            ("roles.root.keyids", nil, "must be an array"),
            ("roles.timestamp", nil, "must be an object"), ("roles.snapshot", nil, "must be an object"),
            ("roles.targets", nil, "must be an object"),
            ("keys", nil, "must be an object"),
            ("keys.\(key)", .some(.fields([])), "must be the SHA-256 of its key's canonical JSON"),
            ("consistent_snapshot", .some(.integer(1)), "must be true or false"),
            ("x-patchline-app", .some(.text("..")), AppID.rule),
        ] as [(String, JSON?, String)]
    )
    func `of a root is refused by field and rule`(_ field: String, value: JSON?, rule: String) throws {
        #expect(
            try Self.error("1.root.json", setting: field, to: value) == FormatError("root", field: field, rule: rule)
        )
    }

    @Test func `of a root may hold keys of an unknown sort, and roles may name keys that are not there`() throws {
        for key in [
            JSON.fields([
                ("keytype", .text("sphincs")), ("scheme", .text("s")), ("keyval", .fields([("public", .text("x"))])),
            ]), .fields([]), .text("key"), .null,
            .fields([
                ("keytype", .text("rsa")), ("scheme", .text("rsassa-pss-sha256")),
                ("keyval", .fields([("public", .text("no PEM"))])),
            ]),
            .fields([
                ("keytype", .text("rsa")), ("scheme", .text("rsassa-pss-sha256")),
                ("keyval", .fields([("public", .text(try TestingKey.small.publicPEM))])),
            ]),
        ] {
            let tuf = TUFKey(key)
            #expect(tuf.publicKey == nil)
            #expect(try Self.error("1.root.json", setting: "keys.\(tuf.id.hex)", to: key) == nil)
            let ids = JSON.array([.text(tuf.id.hex), .text("no hex"), .text(Self.key)])
            #expect(try Self.error("1.root.json", setting: "roles.targets.keyids", to: ids) == nil)
        }
    }

    static let row = "delegations.roles.0"

    @Test(
        arguments: [
            ("name", JSON?.some(.text("")), "name", "must not be empty or the name of a top role"),
            ("name", .some(.text("root")), "name", "must not be empty or the name of a top role"),
            ("name", .some(.text("snapshot")), "name", "must not be empty or the name of a top role"),
            ("name", nil, "name", "must be a string"),
            ("name", .some(.text("beta")), "", ""),
            ("threshold", .some(.integer(0)), "threshold", "must be an integer from 1 to 1000"),
            ("keyids", nil, "keyids", "must be an array"), ("terminating", nil, "terminating", "must be true or false"),
            ("paths", nil, "paths", "must be given, or path_hash_prefixes, but not both"),
            ("paths", .some(.array([.integer(1)])), "paths", "must hold strings only"),
            ("path_hash_prefixes", .some(.array([])), "paths", "must be given, or path_hash_prefixes, but not both"),
        ] as [(String, JSON?, String, String)]
    )
    func `of targets is refused for a delegation`(_ key: String, value: JSON?, field: String, rule: String) throws {
        let expected =
            field.isEmpty
            ? FormatError("targets", field: "delegations.roles[1].name", rule: "is listed twice")
            : FormatError("targets", field: "delegations.roles[0].\(field)", rule: rule)
        #expect(try Self.error("1.targets.json", setting: "\(Self.row).\(key)", to: value) == expected)
    }

    @Test func `of a channel is refused for what it says of a target`() throws {
        func error(_ length: JSON, _ hashes: JSON) throws -> FormatError? {
            try Self.error(
                "2.production.json",
                setting: "targets",
                to: .fields([("a", .fields([("length", length), ("hashes", hashes)]))])
            )
        }
        let good = JSON.fields([("sha256", .text(Self.key))])
        #expect(try error(.integer(0), good) == nil)
        #expect(
            try error(.integer(-1), good)
                == FormatError("production", field: "targets.a.length", rule: "must be an integer from 0 to 4000000000")
        )
        #expect(
            try error(.integer(1), .fields([]))
                == FormatError("production", field: "targets.a.hashes", rule: "must hold 1 to 16 digests")
        )
        #expect(
            try error(.integer(1), .fields([("sha256", .text(Self.key)), ("md5", .text(""))]))
                == FormatError(
                    "production",
                    field: "targets.a.hashes.md5",
                    rule: "must be an even number of lowercase hex digits"
                )
        )
    }

    @Test func `covers targets by the prefixes of their hashes`() throws {
        // SHA-256("production/patchlist.json") by sha256sum.
        let hash = SHA256Digest(of: Array("production/patchlist.json".utf8)).hex
        let other = hash.hasPrefix("0") ? "1" : "0"
        for (prefixes, covered) in [
            ([String(hash.prefix(2))], true), ([other, hash], true), ([other], false), ([], false),
            ([hash.prefix(8).uppercased() + "X"], false),
        ] {
            let json = try Vectors.json("tuf/1.targets.json").setting("signed.\(Self.row).paths", to: nil)
                .setting("signed.\(Self.row).path_hash_prefixes", to: .array(prefixes.map { .text($0) }))
            let role = try TargetsRole(try Envelope(json.fileBytes, role: "targets", limit: 1_000_000), name: "targets")
            #expect(role.delegation(to: "production")?.covers("production/patchlist.json") == covered)
        }
    }

    @Test func `covers what a channel publishes and nothing of another`() throws {
        let role = try TargetsRole(
            try Envelope(try Vectors.bytes("tuf/1.targets.json"), role: "targets", limit: 1_000_000),
            name: "targets"
        )
        let delegation = try #require(role.delegation(to: "production"))
        #expect(delegation.terminating)
        for path in [
            TargetPath.patchList(production), .manifest(channel: production, patchID: web, version: named("1")),
            .signatureColumn(channel: production, patchID: web, version: named("1")),
        ] { #expect(delegation.covers(path.text)) }
        for path in [
            TargetPath.patchList(named("beta")), .dial(production),
            .manifest(channel: named("beta"), patchID: web, version: named("1")),
        ] {
            #expect(!delegation.covers(path.text))
        }
    }
}

@Suite("The roles as Patchline writes them")
struct RoleDocumentTests {
    @Test func `are trusted from root to list, each by its own keys`() throws {
        let now = time("2026-11-21T00:00:00Z")
        var trusted = try StepByStep(try Vectors.bytes("tuf/1.root.json"), at: now)
        try trusted.checkRootExpiry()
        #expect(try trusted.updateTimestamp(try Vectors.bytes("tuf/timestamp.json")) == .taken)
        try trusted.checkTimestampExpiry()
        try trusted.updateSnapshot(try Vectors.bytes("tuf/7.snapshot.json"))
        try trusted.checkSnapshotIsCurrent()
        try trusted.updateTargets(try Vectors.bytes("tuf/1.targets.json"), role: "targets", delegator: "root")
        try trusted.updateTargets(try Vectors.bytes("tuf/2.production.json"), role: "production", delegator: "targets")
        try trusted.updateTargets(try Vectors.bytes("tuf/12.dial.json"), role: "dial", delegator: "targets")
        #expect(trusted.root.app == app && trusted.root.role.consistentSnapshot)
        let bundle = (web, named("1.0.0") as VersionLabel)
        for (path, role, file) in [
            (TargetPath.patchList(production), "production", "patch-list/patchlist.json"),
            (
                .manifest(channel: production, patchID: bundle.0, version: bundle.1), "production",
                "manifest/manifest.json"
            ),
            (
                .signatureColumn(channel: production, patchID: bundle.0, version: bundle.1), "production",
                "manifest/manifest.sigs"
            ),
            (.dial(production), "dial", "dial/dial.json"),
        ] {
            let target = try trusted.target(path, of: role)
            #expect(throws: Never.self) { try target.check(try Vectors.bytes(file), name: file) }
        }
    }

    @Test func `are the bytes of the vectors`() throws {
        let expires = time("2099-01-01T00:00:00Z")
        let online = try World.signers([.online])
        func file(_ name: String, _ version: Int) throws -> RoleFile {
            RoleFile(of: try Vectors.bytes("tuf/\(name)"), version: version)
        }
        func target(_ name: String) throws -> TargetFile { TargetFile(of: try Vectors.bytes(name)) }
        let bundle = (web, named("1.0.0") as VersionLabel)
        let written: [(String, Envelope)] = [
            (
                "1.root.json",
                RoleDocument.root(
                    app: app,
                    version: 1,
                    expires: expires,
                    roles: [
                        "root": try World.signers([.root]), "targets": try World.signers([.targets]),
                        "snapshot": online, "timestamp": online,
                    ]
                )
            ),
            (
                "1.targets.json",
                RoleDocument.targets(
                    version: 1,
                    expires: expires,
                    delegations: [
                        .channel(production, signers: try World.signers([.production, .second], 2)),
                        .channel(named("beta"), signers: try World.signers([.beta])), .dial(signers: online),
                    ]
                )
            ),
            (
                "2.production.json",
                RoleDocument.delegated(
                    "production",
                    version: 2,
                    expires: expires,
                    targets: [
                        .patchList(production): try target("patch-list/patchlist.json"),
                        .manifest(channel: production, patchID: bundle.0, version: bundle.1): try target(
                            "manifest/manifest.json"
                        ),
                        .signatureColumn(channel: production, patchID: bundle.0, version: bundle.1): try target(
                            "manifest/manifest.sigs"
                        ),
                    ],
                    entryKeys: EntryKeys([try TestingKey.entry.key.publicKey])
                )
            ),
            (
                "12.dial.json",
                RoleDocument.delegated(
                    "dial",
                    version: 12,
                    expires: expires,
                    targets: [.dial(production): try target("dial/dial.json")]
                )
            ),
            (
                "7.snapshot.json",
                RoleDocument.snapshot(
                    version: 7,
                    expires: expires,
                    files: [
                        "targets": try file("1.targets.json", 1), "production": try file("2.production.json", 2),
                        "dial": try file("12.dial.json", 12),
                    ]
                )
            ),
            (
                "timestamp.json",
                RoleDocument.timestamp(
                    version: 31,
                    expires: expires,
                    snapshot: try file("7.snapshot.json", 7),
                    signedAt: time("2026-11-20T08:00:05Z")
                )
            ),
        ]
        for (name, unsigned) in written {
            let vector = try Envelope(try Vectors.bytes("tuf/\(name)"), role: unsigned.role, limit: 1_000_000)
            var again = unsigned
            for signature in vector.signatures { again.add(signature) }
            #expect(again.fileBytes == (try Vectors.bytes("tuf/\(name)")), "\(name)")
        }
    }

    @Test func `make a release whose base is the digest of the canonical signed part`() throws {
        let header = try ReleaseHeader(try Vectors.bytes("release/release.json"))
        let base = try Envelope(try Vectors.bytes("release/base-role.json"), role: "production", limit: 1_000_000)
        #expect(header.base == .init(roleVersion: 1, sha256: SHA256Digest(of: base.signed.canonicalBytes)))
        let role = try TargetsRole(
            try Envelope(try Vectors.bytes("release/role.json"), role: "production", limit: 1_000_000),
            name: "production"
        )
        #expect(role.header.version == header.roleVersion)
    }
}
