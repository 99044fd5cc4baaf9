import PatchFormat
import PatchRelease
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@Suite("A trust draft")
struct TrustDraftTests {
    @Test func `is the same after it was written and read`() throws {
        let world = try CeremonyWorld()
        let draft = try world.complete([])
        let read = try TrustDraft(draft.fileBytes)
        #expect(read.hasContent(of: draft) && read.base == draft.base && read.app == draft.app)
        #expect(read.fileBytes == draft.fileBytes)
        #expect(read.root?.signatures == draft.root?.signatures)
    }

    private static let malformed:
        [(what: String, edit: @Sendable (inout JSONObject) -> Void, field: String, rule: String)] = [
            ("another format", { $0["format"] = .text("v2") }, "format", "must be patchline-trust-draft-v1"),
            ("an unknown member", { $0["note"] = .text("hi") }, "note", "is not known in patchline-trust-draft-v1"),
            ("an app with a slash", { $0["app"] = .text("a/b") }, "app", AppID.rule),
            ("no base", { $0["base"] = nil }, "base", "must be an object"),
            (
                "a base of version 0",
                {
                    $0["base"] = .fields([
                        (
                            "root",
                            .fields([("version", .integer(0)), ("sha256", .text(String(repeating: "0", count: 64)))])
                        )
                    ])
                }, "base.root.version", "must be an integer from 1 to \(1 << 53 - 2)"
            ),
            (
                "neither role",
                {
                    $0["root"] = nil; $0["targets"] = nil
                }, "root", "or targets is needed"
            ),
            (
                "a first root alone",
                {
                    $0["base"] = .null; $0["targets"] = nil
                }, "base",
                "must not be null unless both root and targets are present"
            ),
            (
                "a root over the limit",
                {
                    $0["root"] = .fields([
                        ("signed", .fields([("x", .text(String(repeating: "x", count: Limits.root)))])),
                        ("signatures", .array([])),
                    ])
                },
                "root", "is over 512000 bytes"
            ),
        ]

    @Test(arguments: malformed.map(\.what))
    func `is refused with`(_ what: String) throws {
        let world = try CeremonyWorld()
        let (_, edit, field, rule) = try #require(Self.malformed.first { $0.what == what })
        var object = try #require(try world.draft([]).json.object)
        edit(&object)
        let bytes = JSON.object(object).fileBytes
        #expect(throws: FormatError("trust draft", field: field, rule: rule)) { try TrustDraft(bytes) }
    }

    @Test func `is read up to its limit`() throws {
        #expect(throws: FormatError("trust draft", rule: "is over \(Limits.trustDraft) bytes")) {
            try TrustDraft([UInt8](repeating: 0x20, count: Limits.trustDraft + 1))
        }
    }

    @Test func `gathers signatures of holders on machines of their own`() throws {
        let world = try CeremonyWorld()
        let new = try draft(in: world)
        let (alice, bob) = (world.path("alice", "trust.draft"), world.path("bob", "trust.draft"))
        try world.folder("alice").save(try sign(new, "alice", .root, in: world), to: alice, replacing: false)
        try world.folder("bob").save(try sign(new, "bob", .other, in: world), to: bob, replacing: false)
        let merged = try world.folder("alice").change(at: alice).merged(with: try world.folder("bob").draft(at: bob))
        try world.folder("alice").save(merged, to: alice, replacing: true)
        #expect(try world.folder("alice").change(at: alice).isComplete)
        for machine in ["alice", "bob"] {
            #expect(try world.folder(machine).publish(merged, at: CeremonyWorld.time, from: alice))
            #expect(
                try world.names(machine) == ["1.root.json", "2.root.json", "root.json", "targets.json", "trust.draft"]
            )
        }
        #expect(try world.roles("bob").root.header.version == 2)
    }

    private func draft(in world: CeremonyWorld) throws -> TrustDraft {
        try world.draft([.remove(.key(try TestKey.second.publicKey), .root)])
    }

    private func sign(_ draft: TrustDraft, _ machine: String, _ key: TestKey, in world: CeremonyWorld) throws
        -> TrustDraft
    {
        try world.folder(machine).change(draft, at: "/x").signed(with: try key.signer)
    }

    @Test func `takes over no signature that does not hold, and none over other content`() throws {
        let world = try CeremonyWorld()
        let new = try draft(in: world)
        var forged = try #require(new.root)
        forged.add(Envelope.Signature(keyID: id(of: try TestKey.other.publicKey).hex, bytes: [1, 2, 3]))
        let bad = TrustDraft(app: new.app, base: new.base, root: forged, targets: nil)
        let good = try world.signed(new, by: [try TestKey.other.signer])
        #expect(try world.change(good).merged(with: bad).root?.signatures == good.root?.signatures)
        #expect(throws: CeremonyError.otherContent) {
            try world.change(good).merged(with: try world.draft([.threshold(1, .root)]))
        }
    }

    @Test func `is not saved over a file unless it may be`() throws {
        let world = try CeremonyWorld()
        let path = world.path("alice", "root.json")
        let before = try world.files.read(path, limit: Limits.root)
        #expect(throws: SigningError.exists(path)) {
            try world.folder().save(try world.draft([]), to: path, replacing: false)
        }
        #expect(try world.files.read(path, limit: Limits.root) == before)
    }
}

@Suite("Publishing a trust draft")
struct TrustPublishTests {
    private let path = FilePath("/alice/trust.draft")

    @Test func `leaves the roots before and after in the folder, and does nothing twice`() throws {
        let world = try CeremonyWorld()
        let old = try world.files.read("/alice/root.json", limit: Limits.root)
        let draft = try world.complete([])
        #expect(try world.folder().publish(draft, at: CeremonyWorld.time, from: path))
        #expect(try world.files.read("/alice/1.root.json", limit: Limits.root) == old)
        for name in ["root.json", "2.root.json"] {
            #expect(try world.files.read(world.path("alice", name), limit: Limits.root) == draft.root?.fileBytes)
        }
        #expect(try world.files.read("/alice/targets.json", limit: Limits.root) == draft.targets?.fileBytes)
        let changes = world.files.changes
        #expect(try !world.folder().publish(draft, at: CeremonyWorld.time, from: path))
        #expect(world.files.changes == changes)
    }

    @Test func `of targets alone leaves root alone`() throws {
        let world = try CeremonyWorld()
        let draft = try world.complete([
            .remove(.key(try TestKey.beta.publicKey), .channel(named("beta"))),
            .add(CeremonyWorld.fresh[0].publicKey, .channel(named("beta"))),
        ])
        #expect(try world.folder().publish(draft, at: CeremonyWorld.time, from: path))
        #expect(try world.names() == ["root.json", "targets.json"])
    }

    @Test func `is refused when the folder moved on`() throws {
        let world = try CeremonyWorld()
        let late = try world.complete([.threshold(1, .root)])
        try world.folder().publish(try world.complete([]), at: CeremonyWorld.time, from: path)
        let before = world.files.changes
        let moved = SigningError.ceremony(path, .moved(role: "root", base: 1, found: 2))
        #expect(throws: moved) { try world.folder().publish(late, at: CeremonyWorld.time, from: path) }
        #expect(throws: moved) { try world.folder().change(late, at: path) }
        #expect(world.files.changes == before)
    }

    @Test func `is refused while signatures are missing or once it is too old`() throws {
        let world = try CeremonyWorld()
        let draft = try world.signed(try world.draft([]), by: [TestKey.root, .targets].map { try $0.signer })
        let lack = CeremonyError.Lack(rule: .root, valid: 1, needed: 2)
        #expect(throws: SigningError.ceremony(path, .incomplete([lack]))) {
            try world.folder().publish(draft, at: CeremonyWorld.time, from: path)
        }
        let complete = try world.signed(draft, by: [try TestKey.other.signer])
        let end = CeremonyWorld.time.adding(.days(365))
        #expect(throws: SigningError.ceremony(path, .expired(role: "root", expires: end))) {
            try world.folder().publish(complete, at: end, from: path)
        }
        #expect(try world.names() == ["root.json", "targets.json"])
        #expect(try world.roles().root.header.version == 1)
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames])
    func `goes on after a crash at any point`(_ survival: FaultyFiles.Survival) throws {
        let world = try CeremonyWorld()
        // The new targets keys are why the new targets.json does not hold under the old root.json.
        let edits: [TrustEdit] = [
            .add(CeremonyWorld.fresh[0].publicKey, .targets), .remove(.key(try TestKey.targets.publicKey), .targets),
        ]
        let signers = [try TestKey.root.signer, try TestKey.other.signer, try signer(CeremonyWorld.fresh[0])]
        let draft = try world.signed(try world.draft(edits), by: signers)
        let rehearsal = world.files.reopened()
        try world.folder(on: rehearsal).publish(draft, at: CeremonyWorld.time, from: path)
        #expect(rehearsal.changes > 15)
        for change in Sweep.points(of: rehearsal.changes, every: 3) {
            let disk = world.files.reopened(failingAtChange: change)
            #expect(throws: SigningError.self) {
                try world.folder(on: disk).publish(draft, at: CeremonyWorld.time, from: path)
            }
            let after = disk.crashed(survival)
            try world.folder(on: after).publish(draft, at: CeremonyWorld.time, from: path)
            let roles = try #require(try world.folder(on: after).current())
            #expect(roles.root.header.version == 2 && roles.targets.header.version == 2, "stopped at \(change)")
            for name in ["1.root.json", "2.root.json"] {
                #expect(try after.status(of: world.path("alice", name)) != nil, "stopped at \(change)")
            }
        }
    }
}
