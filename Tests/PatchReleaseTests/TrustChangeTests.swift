import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTesting
import PatchTrust
import SystemPackage
import Testing

@Suite("A change of trust")
struct TrustChangeTests {
    private let production = TrustRole.channel(named("production"))

    private func fresh(_ index: Int = 0) throws -> PublicKey {
        try #require(CeremonyWorld.fresh.count == 3)
        return CeremonyWorld.fresh[index].publicKey
    }

    @Test func `without an edit is the same content with a new expiry`() throws {
        let world = try CeremonyWorld()
        let change = try world.change(try world.draft([], validity: .days(400)))
        let (before, expires) = (CeremonyWorld.time.adding(.days(365)), CeremonyWorld.time.adding(.days(400)))
        #expect(
            change.differences == [
                .version(role: "root", from: 1, to: 2, expires: expires, before: before),
                .version(role: "targets", from: 1, to: 2, expires: expires, before: before),
            ]
        )
        #expect(change.quorums.map(\.rule) == [.root, .targets])
        #expect(change.quorums.map(\.needed) == [2, 1])
    }

    @Test func `of a channel is one of targets alone`() throws {
        let world = try CeremonyWorld()
        let draft = try world.draft([.add(try fresh(), production), .threshold(2, production)])
        #expect(draft.root == nil)
        let change = try world.change(draft)
        #expect(
            change.differences.dropFirst() == [
                .added(TUFKey(try fresh()), to: production), .threshold(of: production, from: 1, to: 2, keys: 2),
            ]
        )
        #expect(change.quorums.map(\.rule) == [.targets])
    }

    @Test func `of the online key is one of root and targets, and has it in snapshot, timestamp and dial`() throws {
        let world = try CeremonyWorld()
        let change = try world.change(try world.draft([.add(try fresh(), .online)]))
        let listed = ["snapshot", "timestamp"].map { Array(change.after.root.keys(of: $0).keys.keys) }
        #expect(listed == [[id(of: try fresh())], [id(of: try fresh())]])
        #expect(change.after.targets.delegation(to: "dial").map { Array($0.keys.keys.keys) } == listed[0])
        #expect(
            change.differences.suffix(2) == [
                .removed(TUFKey(try TestKey.online.publicKey), from: .online),
                .added(TUFKey(try fresh()), to: .online),
            ]
        )
        #expect(change.draft.root != nil && change.draft.targets != nil)
    }

    @Test func `takes targets along when their present keys go`() throws {
        let world = try CeremonyWorld()
        let edits: [TrustEdit] = [.add(try fresh(), .targets), .remove(.key(try TestKey.targets.publicKey), .targets)]
        let draft = try world.draft(edits)
        #expect(draft.targets != nil)
        #expect(throws: CeremonyError.targetsStay) {
            try world.change(TrustDraft(app: draft.app, base: draft.base, root: draft.root, targets: nil))
        }
        #expect(try world.draft([.add(try fresh(), .targets)]).targets == nil)
    }

    @Test func `adds a channel with its own paths, before the dial`() throws {
        let world = try CeremonyWorld()
        let change = try world.change(try world.draft([.add(try fresh(), .channel(named("canary")))]))
        #expect(change.after.targets.delegations.map(\.name) == ["production", "beta", "canary", "dial"])
        let canary = try #require(change.after.targets.delegation(to: "canary"))
        #expect(canary.scope == .paths(["canary/*", "canary/*/*/*"]) && canary.terminating)
        #expect(change.differences.dropFirst().first == .newChannel(named("canary")))
    }

    @Test func `of the targets key is signed by the key that goes and by the one that comes`() throws {
        let world = try CeremonyWorld()
        let key = CeremonyWorld.fresh[0]
        let edits: [TrustEdit] = [
            .add(key.publicKey, .targets), .remove(.key(try TestKey.targets.publicKey), .targets),
        ]
        let roots = [TestKey.root, .other].map { try? $0.signer }.compactMap(\.self)
        let alone = try world.change(try world.signed(try world.draft(edits), by: roots + [try signer(key)]))
        #expect(alone.isComplete && alone.handover?.isComplete == false)
        #expect(alone.rolesToSign(with: try TestKey.targets.publicKey) == ["targets"])
        let change = try world.change(try world.signed(alone.draft, by: [try TestKey.targets.signer]))
        #expect(change.isComplete && change.handover?.isComplete == true)
        #expect(change.handover?.rule == .presentTargets)
        // A reader of either root takes them.
        let targets = try #require(change.draft.targets)
        for root in [try world.roles().root, change.after.root] {
            try root.keys(of: "targets").check(targets, role: "targets")
        }
        #expect(try world.change(try world.draft([.add(try fresh(), .root)])).handover == nil)
    }

    @Test func `needs the present root's keys and the next one's`() throws {
        let world = try CeremonyWorld()
        let edits: [TrustEdit] = [
            .add(try fresh(), .root), .remove(.key(try TestKey.second.publicKey), .root), .threshold(3, .root),
        ]
        var draft = try world.signed(try world.draft(edits), by: [TestKey.root, .second].map { try $0.signer })
        var change = try world.change(draft)
        #expect(change.quorums.map(\.rule) == [.presentRoot, .nextRoot])
        #expect(change.quorums.map(\.valid) == [2, 1])
        #expect(Set(change.quorums[1].missing) == [id(of: try TestKey.other.publicKey), id(of: try fresh())])
        let lacks = [CeremonyError.Lack(rule: .nextRoot, valid: 1, needed: 3)]
        #expect(throws: CeremonyError.incomplete(lacks)) { try change.checkReady(at: CeremonyWorld.time) }
        draft = try world.signed(draft, by: [try TestKey.other.signer, try signer(CeremonyWorld.fresh[0])])
        change = try world.change(draft)
        #expect(change.isComplete)
        try change.checkReady(at: CeremonyWorld.time)
        let end = CeremonyWorld.time.adding(.days(365))
        #expect(throws: CeremonyError.expired(role: "root", expires: end)) { try change.checkReady(at: end) }
        let devices = try TrustedRoot(anchor: try world.roles().rootEnvelope.fileBytes)
        #expect(try devices.following(try #require(draft.root).fileBytes).version == 2)
    }

    @Test func `replaces a lost root key with the two that are left`() throws {
        let world = try CeremonyWorld()
        let lost = String(id(of: try TestKey.second.publicKey).hex.prefix(8))
        let draft = try world.draft([.add(try fresh(), .root), .remove(.id(lost), .root)])
        let change = try world.change(try world.signed(draft, by: [TestKey.root, .other].map { try $0.signer }))
        try change.checkReady(at: CeremonyWorld.time)
        #expect(change.after.root.keys(of: "root").keys.count == 3)
        #expect(throws: SigningError.notASigner(TestKey.beta.file, role: "root")) {
            try change.signed(with: try TestKey.beta.signer)
        }
    }

    @Test func `ends a channel for good`() throws {
        let (world, beta) = (try CeremonyWorld(), named("beta") as ChannelName)
        let draft = try world.draft([.retire(beta)])
        #expect(draft.root == nil)
        let change = try world.change(draft)
        #expect(change.differences.dropFirst() == [.retired(beta)])
        #expect(change.after.targets.delegations.map(\.name) == ["production", "dial"])
        #expect(change.after.targets.retired == [beta])
        #expect(change.after.targets.hasRetired("beta") && !change.after.targets.hasRetired("production"))
        #expect(change.weakenedChannels.isEmpty)
        let keys = try #require(draft.targets?.signed["delegations"]?["keys"]?.object).members.map(\.key.text)
        #expect(!keys.contains(id(of: try TestKey.beta.publicKey).hex))
        let after = try Authorities(change.after)
        #expect(
            after.retired == [beta] && after.roles.map(\.description) == ["root", "targets", "production", "online"]
        )
    }

    @Test func `ends neither the last channel, nor one that is not there or has ended`() throws {
        let (world, beta) = (try CeremonyWorld(), named("beta") as ChannelName)
        let last: ChannelName = named("production")
        #expect(throws: CeremonyError.lastChannel(last)) { try world.draft([.retire(beta), .retire(last)]) }
        #expect(throws: CeremonyError.retired(beta)) { try world.draft([.retire(beta), .retire(beta)]) }
        #expect(throws: CeremonyError.retired(beta)) {
            try world.draft([.retire(beta), .add(try fresh(), .channel(beta))])
        }
        #expect(
            throws: CeremonyError.unknownRole("canary", known: ["root", "targets", "beta", "production", "online"])
        ) {
            try world.draft([.retire(named("canary"))])
        }
    }

    @Test func `that takes a channel away without ending it is refused`() throws {
        let world = try CeremonyWorld()
        let draft = try world.draft([.retire(named("beta"))])
        var signed = try #require(draft.targets?.signed.object)
        signed[TargetsRole.retiredMember] = nil
        let silent = TrustDraft(
            app: draft.app,
            base: draft.base,
            root: nil,
            targets: Envelope(role: "targets", signing: .object(signed))
        )
        #expect(throws: CeremonyError.self) { try world.change(silent) }
    }

    @Test func `keeps members that nobody here knows`() throws {
        let world = try CeremonyWorld()
        let roles = try world.roles()
        var root = try #require(roles.rootEnvelope.signed.object)
        root["x-owner"] = .text("ops")
        var targets = try #require(roles.targetsEnvelope.signed.object)
        targets["x-note"] = .array([.integer(1)])
        let base = try TopRoles(
            root: Envelope(role: "root", signing: .object(root)),
            targets: Envelope(role: "targets", signing: .object(targets))
        )
        let edits: [TrustEdit] = [.add(try fresh(), .online)]
        let draft = try TrustDraft(edits, on: base, at: CeremonyWorld.time, rules: CeremonyWorld.rules)
        let change = try TrustChange(draft, from: base, rules: CeremonyWorld.rules)
        #expect(change.after.rootEnvelope.signed["x-owner"] == .text("ops"))
        #expect(change.after.targetsEnvelope.signed["x-note"] == .array([.integer(1)]))
        #expect(throws: CeremonyError.moved(role: "root", base: 1, found: 1)) { try world.change(draft) }
    }

    private static let refused: [(what: String, edits: @Sendable (PublicKey) throws -> [TrustEdit], CeremonyError)] = {
        let (production, beta) = (TrustRole.channel(named("production")), TrustRole.channel(named("beta")))
        func short(_ key: TestKey) -> KeyID { (try? key.publicKey).map { KeyID(id(of: $0)) } ?? KeyID(.init(of: [])) }
        return [
            (
                "more signatures than there are keys", { _ in [.threshold(4, .root)] },
                .threshold(role: .root, wanted: 4, keys: 3)
            ),
            (
                "fewer keys than signatures",
                { _ in
                    [
                        .remove(.key(try TestKey.root.publicKey), .root),
                        .remove(.key(try TestKey.other.publicKey), .root),
                    ]
                },
                .threshold(role: .root, wanted: 2, keys: 1)
            ),
            ("no signature at all", { _ in [.threshold(0, .root)] }, .threshold(role: .root, wanted: 0, keys: 3)),
            (
                "the online key for a channel", { _ in [.add(try TestKey.online.publicKey, production)] },
                .keyInTwoUses(short(.online), "role production", "role online")
            ),
            (
                "a channel's key for the server", { _ in [.add(try TestKey.beta.publicKey, .online)] },
                .keyInTwoUses(short(.beta), "role beta", "role online")
            ),
            (
                "the entry key for a role", { _ in [.add(try TestKey.entry.publicKey, beta)] },
                .keyInTwoUses(short(.entry), "role beta", "entries")
            ),
            (
                "a key twice", { _ in [.add(try TestKey.root.publicKey, .root)] },
                .alreadyListed(short(.root), role: .root)
            ),
            (
                "no online key", { _ in [.remove(.key(try TestKey.online.publicKey), .online)] },
                .threshold(role: .online, wanted: 1, keys: 0)
            ),
            (
                "a key that is not there", { _ in [.remove(.id("00000000"), beta)] },
                .unknownKey("00000000", role: "beta")
            ),
            ("too short an id", { _ in [.remove(.id(""), .root)] }, .ambiguousKey("", role: "root")),
            (
                "a channel that is not there", { _ in [.threshold(1, .channel(named("canary")))] },
                .unknownRole("canary", known: ["root", "targets", "beta", "production", "online"])
            ),
            ("what is so already", { _ in [.threshold(2, .root)] }, .nothingChanges),
        ]
    }()

    @Test(arguments: refused.map(\.what))
    func `is not made with`(_ what: String) throws {
        let world = try CeremonyWorld()
        let (_, edits, error) = try #require(Self.refused.first { $0.what == what })
        let rules = TrustRules(policy: .forTests, entryKeys: [try TestKey.entry.publicKey])
        let (made, roles) = (try edits(try fresh()), try world.roles())
        #expect(throws: error) { try TrustDraft(made, on: roles, at: CeremonyWorld.time, rules: rules) }
    }

    @Test func `is not made with testing keys`() throws {
        let world = try CeremonyWorld()
        let rules = TrustRules(policy: KeyPolicy(allowsTestingKeys: false), entryKeys: [])
        let roles = try world.roles()
        #expect(throws: CeremonyError.testingKey(role: .root)) {
            try TrustDraft([], on: roles, at: CeremonyWorld.time, rules: rules)
        }
    }

    /// Each changes one thing of a draft that renews root and targets.
    private static let unexplained:
        [(what: String, role: String, edit: @Sendable (inout JSONObject) -> Void, CeremonyError)] = [
            ("unknown member", "root", { $0["x-new"] = .bool(true) }, .unexplained(role: "root", field: "x-new")),
            (
                "consistent_snapshot", "root", { $0["consistent_snapshot"] = .bool(false) },
                .unexplained(role: "root", field: "consistent_snapshot")
            ),
            (
                "app", "root", { $0["x-patchline-app"] = .text("com.example.other") },
                .unexplained(role: "root", field: "x-patchline-app")
            ),
            ("version jump", "root", { $0["version"] = .integer(3) }, .version(role: "root", found: 3, expected: 2)),
            ("no step", "targets", { $0["version"] = .integer(1) }, .version(role: "targets", found: 1, expected: 2)),
            (
                "timestamp without snapshot", "root",
                { $0.edit("roles", "timestamp") { $0["threshold"] = .integer(2) } },
                .onlineKey
            ),
            (
                "a top role of its own", "root",
                { $0.edit("roles") { $0["mirrors"] = .fields([("keyids", .array([])), ("threshold", .integer(1))]) } },
                .unexplained(role: "root", field: "roles.mirrors")
            ),
            (
                "targets of its own", "targets",
                {
                    $0["targets"] = .fields([
                        (
                            "x",
                            .fields([
                                ("length", .integer(0)),
                                ("hashes", .fields([("sha256", .text(String(repeating: "0", count: 64)))])),
                            ])
                        )
                    ])
                },
                .unexplained(role: "targets", field: "targets.x")
            ),
            (
                "wider paths", "targets", { $0.delegation(0) { $0["paths"] = .array([.text("*")]) } },
                .unexplained(role: "targets", field: "delegations.roles[0].paths")
            ),
            (
                "not terminating", "targets", { $0.delegation(0) { $0["terminating"] = .bool(false) } },
                .unexplained(role: "targets", field: "delegations.roles[0].terminating")
            ),
            (
                "a role of another structure", "targets", { $0.delegation(0) { $0["name"] = .text("bins-1") } },
                .unexplained(role: "targets", field: "delegations.roles[0].name")
            ),
            (
                "a channel that is gone", "targets",
                { $0.edit("delegations") { $0["roles"] = $0["roles"].map { .array(Array($0.elements.dropFirst())) } } },
                .unexplained(role: "targets", field: "delegations.roles")
            ),
            (
                "a key that nobody names", "targets",
                { $0.edit("delegations", "keys") { $0[TUFKey(.fields([])).id.hex] = .fields([]) } },
                .unexplained(role: "targets", field: "delegations.keys.\(TUFKey(.fields([])).id.hex)")
            ),
        ]

    @Test(arguments: unexplained.map(\.what))
    func `is refused when it holds`(_ what: String) throws {
        let world = try CeremonyWorld()
        let (_, role, edit, error) = try #require(Self.unexplained.first { $0.what == what })
        let draft = try world.draft([])
        func edited(_ envelope: Envelope?) throws -> Envelope? {
            guard let envelope, envelope.role == role else { return envelope }
            var signed = try #require(envelope.signed.object)
            edit(&signed)
            return Envelope(role: role, signing: .object(signed))
        }
        let changed = TrustDraft(
            app: draft.app,
            base: draft.base,
            root: try edited(draft.root),
            targets: try edited(draft.targets)
        )
        #expect(throws: error) { try world.change(changed) }
    }

    @Test func `is refused with a key that signs no role`() throws {
        let (key, error) = try refusal { $0["scheme"] = .text("rsa-pkcs1v15-sha256") }
        #expect(error == .unusableKey(KeyID(key.id), role: production))
    }

    @Test func `is refused with a key whose id somebody chose by members of its own`() throws {
        let (key, error) = try refusal { $0["x-nonce"] = .integer(4_711) }
        #expect(error == .shapedKey(key.id, role: production))
    }

    @Test func `names a new key by its whole id and one that goes by its beginning`() throws {
        let world = try CeremonyWorld()
        let change = try world.change(try world.draft([.add(try fresh(), .online)]))
        let names = try KeyNames(KeyFolder("/alice", files: world.files))
        let old = KeyID(id(of: try TestKey.online.publicKey))
        #expect(
            change.differences.suffix(2).map { $0.words(names) } == [
                "- online: key \(old) signs no longer", "+ online: key \(id(of: try fresh()).hex) signs",
            ]
        )
    }

    /// What is said to a draft that adds a key to production whose object was edited.
    private func refusal(_ edit: (inout JSONObject) -> Void) throws -> (TUFKey, CeremonyError?) {
        let world = try CeremonyWorld()
        let draft = try world.draft([.add(try fresh(), production)])
        var odd = try #require(TUFKey(try fresh()).json.object)
        edit(&odd)
        let key = TUFKey(.object(odd))
        var signed = try #require(draft.targets?.signed.object)
        let old = id(of: try fresh()).hex
        signed.edit("delegations", "keys") {
            $0[old] = nil
            $0[key.id.hex] = key.json
        }
        signed.delegation(0) { row in
            let kept = row["keyids"]?.elements.compactMap(\.text).filter { $0 != old } ?? []
            row["keyids"] = .array((kept + [key.id.hex]).sorted().map { .text($0) })
        }
        let changed = TrustDraft(
            app: draft.app,
            base: draft.base,
            root: nil,
            targets: Envelope(role: "targets", signing: .object(signed))
        )
        return (key, #expect(throws: CeremonyError.self) { try world.change(changed) })
    }
}

extension JSON {
    fileprivate var text: String? {
        if case .string(let text) = self { text.text } else { nil }
    }

    fileprivate var elements: [JSON] {
        if case .array(let elements) = self { elements } else { [] }
    }
}

extension JSONObject {
    /// Changes an object inside this one.
    fileprivate mutating func edit(_ path: String..., body: (inout JSONObject) -> Void) {
        edit(path[...], body)
    }

    private mutating func edit(_ path: ArraySlice<String>, _ body: (inout JSONObject) -> Void) {
        guard let name = path.first else { return body(&self) }
        var inner = self[name]?.object ?? JSONObject()
        inner.edit(path.dropFirst(), body)
        self[name] = .object(inner)
    }

    fileprivate mutating func delegation(_ index: Int, body: (inout JSONObject) -> Void) {
        edit("delegations") { part in
            var rows = part["roles"]?.elements ?? []
            guard var row = rows[index].object else { return }
            body(&row)
            rows[index] = .object(row)
            part["roles"] = .array(rows)
        }
    }
}
