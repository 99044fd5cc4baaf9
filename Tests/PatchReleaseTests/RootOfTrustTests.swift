import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@Suite("A root of trust")
struct RootOfTrustTests {
    private let protection: (String) -> RootOfTrustMaker.Protection = { name in
        .passphrase(name == "online" ? "of the server" : "correct horse")
    }

    /// Testing keys under the names of a plan, so that nothing has to be made.
    private func testKeys() throws -> [String: PrivateKey] {
        [
            "root": try TestKey.root.key, "targets": try TestKey.targets.key, "production": try TestKey.production.key,
            "beta": try TestKey.beta.key, "online": try TestKey.online.key, "entry": try TestKey.entry.key,
        ]
    }

    private func maker(in folder: FilePath) throws(SigningError) -> RootOfTrustMaker {
        let plan: RootOfTrustPlan
        do throws(RootOfTrustPlan.Problem) {
            plan = try RootOfTrustPlan(app: Workbench.app, channels: [])
        } catch { throw .plan(error) }
        return try RootOfTrustMaker(plan, policy: .forTests, in: folder, files: DiskFiles())
    }

    @Test func `is whole: encrypted keys that openssl opens, public halves, and roles that hold`() async throws {
        let bench = try Workbench()
        let folder = bench.folder.appending("new/Keys")
        try maker(in: folder).write(try testKeys(), at: Workbench.time, protection: protection)
        let names = ["beta", "entry", "online", "production", "root", "targets"]
        let all = (names.flatMap { ["\($0).key", "\($0).pub"] } + [".gitignore", "root.json", "targets.json"])
            .sorted()
        #expect(try bench.files.list(folder) == all)
        for name in names {
            let key = folder.appending("\(name).key")
            #expect(try bench.files.status(of: key)?.permissions == .privateFile)
            let secret = name == "online" ? "of the server" : "correct horse"
            let opened = try await tool("openssl", ["pkey", "-in", key.string, "-passin", "pass:\(secret)", "-pubout"])
            #expect(
                opened.output
                    == String(
                        decoding: try bench.files.read(folder.appending("\(name).pub"), limit: 10_000),
                        as: UTF8.self
                    )
            )
            #expect(try await !tool("openssl", ["pkey", "-in", key.string, "-passin", "pass:wrong"]).succeeded)
        }
        let trust = try ReleaseTrust(folder: folder, policy: .forTests, files: bench.files)
        #expect(trust.app == Workbench.app)
        #expect(trust.targets.delegations.map(\.name) == ["production", "beta", "dial"])
        #expect(trust.roles(of: try TestKey.online.key.publicKey) == ["snapshot", "timestamp", "dial"])
        #expect(trust.roles(of: try TestKey.entry.key.publicKey).isEmpty)
    }

    @Test func `waits as a draft for holders whose keys were made elsewhere`() throws {
        let bench = try Workbench()
        let plan = try RootOfTrustPlan(
            app: Workbench.app,
            channels: ["production"],
            holders: [("root", "alice"), ("root", "bob")],
            thresholds: [("root", 2)]
        )
        let folder = bench.folder.appending("new")
        let maker = try RootOfTrustMaker(
            plan,
            elsewhere: ["root-bob": try TestKey.other.publicKey],
            policy: .forTests,
            in: folder,
            files: DiskFiles()
        )
        let keys = [
            "root-alice": try TestKey.root.key, "targets": try TestKey.targets.key,
            "production": try TestKey.production.key, "online": try TestKey.online.key,
            "entry": try TestKey.entry.key,
        ]
        #expect(try !maker.write(keys, at: Workbench.time, protection: { _ in .none }).isComplete)
        let names = keys.keys.flatMap { ["\($0).key", "\($0).pub"] } + [".gitignore", "root-bob.pub", "trust.draft"]
        #expect(try bench.files.list(folder) == names.sorted())
        let trust = TrustFolder(folder, policy: .forTests, files: bench.files)
        let change = try trust.change(at: trust.draftPath)
        #expect(change.quorums.map(\.valid) == [1, 1] && change.quorums.map(\.needed) == [2, 1])
        let signed = try change.signed(with: try TestKey.other.signer)
        #expect(try trust.publish(signed, at: Workbench.time, from: trust.draftPath))
        #expect(try ReleaseTrust(folder: folder, policy: .forTests, files: bench.files).root.header.version == 1)
    }

    @Test func `gives no key of another holder two uses`() throws {
        let bench = try Workbench()
        let folder = bench.folder.appending("new")
        let maker = try RootOfTrustMaker(
            try RootOfTrustPlan(app: Workbench.app, channels: ["production", "beta"]),
            elsewhere: ["online": try TestKey.beta.publicKey],
            policy: .forTests,
            in: folder,
            files: DiskFiles()
        )
        let twice = CeremonyError.keyInTwoUses(
            KeyID(id(of: try TestKey.beta.publicKey)),
            "role beta",
            "role online"
        )
        #expect(throws: SigningError.ceremony(folder, twice)) {
            try maker.write(try testKeys(), at: Workbench.time, protection: protection)
        }
        #expect(try bench.files.status(of: folder) == nil)
    }

    @Test func `keeps private keys out of git`() async throws {
        let bench = try Workbench()
        let folder = bench.folder.appending("new")
        try maker(in: folder).write(try testKeys(), at: Workbench.time, protection: protection)
        let ignored = try bench.files.read(folder.appending(".gitignore"), limit: 1_000)
        #expect(
            String(decoding: ignored, as: UTF8.self) == """
                # Private keys and passphrases stay out of version control.
                *.key
                *.pass

                """
        )
        #expect(try !KeyFolder(folder, files: bench.files).leavesKeysToGit())
    }

    @Test func `leaves a .gitignore of the folder's owner alone`() throws {
        let bench = try Workbench()
        let folder = bench.folder.appending("new")
        try bench.write("*.log\n", to: "new/.gitignore")
        try maker(in: folder).write(try testKeys(), at: Workbench.time, protection: protection)
        #expect(try bench.files.read(folder.appending(".gitignore"), limit: 1_000) == Array("*.log\n".utf8))
        #expect(try KeyFolder(folder, files: bench.files).leavesKeysToGit())
        try bench.write("*.log\n  *.key \n", to: "new/.gitignore")
        #expect(try !KeyFolder(folder, files: bench.files).leavesKeysToGit())
    }

    @Test func `has a second key of root for the day when the first one is lost`() throws {
        let bench = try Workbench()
        let folder = bench.folder.appending("new")
        let plan = try RootOfTrustPlan(app: Workbench.app, channels: [], recovery: true)
        #expect(plan.keys(of: "root") == ["root", "root-recovery"])
        #expect(plan.threshold(of: "root") == 1)
        #expect(plan.keys(of: "targets") == ["targets"])
        let maker = try RootOfTrustMaker(plan, policy: .forTests, in: folder, files: DiskFiles())
        var keys = try testKeys()
        keys["root-recovery"] = try TestKey.other.key
        #expect(try maker.write(keys, at: Workbench.time, protection: { _ in .none }).isComplete)
        let trust = try ReleaseTrust(folder: folder, policy: .forTests, files: bench.files)
        #expect(trust.root.keys(of: "root").keys.count == 2 && trust.root.keys(of: "root").threshold == 1)
        #expect(trust.roles(of: try TestKey.other.publicKey) == ["root"])
    }

    @Test func `of two holders and a recovery key two must sign`() throws {
        let plan = try RootOfTrustPlan(
            app: Workbench.app,
            channels: [],
            holders: [("root", "alice"), ("root", "bob")],
            thresholds: [("root", 2)],
            recovery: true
        )
        #expect(plan.keys(of: "root") == ["root-alice", "root-bob", "root-recovery"])
        #expect(plan.threshold(of: "root") == 2)
    }

    @Test func `is never made over a file that is there`() throws {
        let bench = try Workbench()
        try bench.write("mine", to: "new/beta.pub")
        let folder = bench.folder.appending("new")
        #expect(throws: SigningError.exists(folder.appending("beta.pub"))) { try maker(in: folder) }
        #expect(try bench.files.list(folder) == ["beta.pub"])
    }

    @Test func `leaves nothing behind when a name is taken while it is written`() throws {
        let bench = try Workbench()
        let folder = bench.folder.appending("new")
        let maker = try maker(in: folder)
        try bench.write("mine", to: "new/root.json")
        #expect(throws: SigningError.file(.exists(.link, folder.appending("root.json")))) {
            try maker.write(try testKeys(), at: Workbench.time, protection: protection)
        }
        #expect(try bench.files.list(folder) == ["root.json"])
    }

    @Test func `has keys of the size that was asked for, and an online key of the kind`() async throws {
        let bench = try Workbench()
        let plan = try RootOfTrustPlan(app: Workbench.app, channels: ["beta"])
        let maker = try RootOfTrustMaker(
            plan,
            policy: .forTests,
            in: bench.folder.appending("new"),
            files: DiskFiles()
        )
        let keys = try await maker.makeKeys(bits: 2_048) { _ in { _ in } }
        #expect(keys.keys.sorted() == ["beta", "entry", "online", "root", "targets"])
        #expect(keys.values.allSatisfy { $0.publicKey.kind == .rsa(bits: 2_048) })
        let other = try await maker.makeKeys(bits: 2_048, online: .ed25519) { _ in { _ in } }
        #expect(other.filter { $0.value.publicKey.kind == .ed25519 }.keys.sorted() == ["online"])
        await #expect(throws: SigningError.plan(.bits(1_024))) {
            try await maker.makeKeys(bits: 1_024) { _ in { _ in } }
        }
    }

    @Test func `names a key for each holder`() throws {
        let plan = try RootOfTrustPlan(
            app: Workbench.app,
            channels: ["production"],
            holders: [("production", "alice"), ("root", "carol"), ("production", "bob")],
            thresholds: [("production", 2)]
        )
        #expect(plan.keyNames == ["root-carol", "targets", "production-alice", "production-bob", "online", "entry"])
        #expect(plan.threshold(of: "production") == 2)
    }

    private static let bad:
        [(
            what: String, channels: [String], holders: [(String, String)], thresholds: [(String, Int)],
            RootOfTrustPlan.Problem
        )] = [
            ("a role as channel", ["root"], [], [], .channel("root", rule: ChannelName.rule)),
            ("a key as channel", ["online"], [], [], .channel("online", rule: "is the name of a key")),
            ("a channel twice", ["a", "a"], [], [], .channel("a", rule: "is given twice")),
            ("an unknown role", ["a"], [("b", "alice")], [], .unknownRole("b", known: ["root", "targets", "a"])),
            (
                "a holder twice", ["a"], [("a", "alice"), ("a", "alice")], [],
                .holder(role: "a", "alice", rule: "is given twice")
            ),
            (
                "a holder with a slash", ["a"], [("a", "../x")], [],
                .holder(role: "a", "../x", rule: "must be 1 to 32 of a-z 0-9")
            ),
            ("more than there are", ["a"], [("a", "alice")], [("a", 2)], .threshold(role: "a", wanted: 2, holders: 1)),
            ("none at all", ["a"], [], [("a", 0)], .threshold(role: "a", wanted: 0, holders: 1)),
        ]

    @Test(arguments: bad.map(\.what))
    func `is not planned with`(_ what: String) throws {
        let (_, channels, holders, thresholds, problem) = try #require(Self.bad.first { $0.what == what })
        #expect(throws: problem) {
            try RootOfTrustPlan(
                app: Workbench.app,
                channels: channels,
                holders: holders.map { ($0.0, $0.1) },
                thresholds: thresholds.map { ($0.0, $0.1) }
            )
        }
    }

    @Test func `does not hold when its targets are signed by somebody else`() throws {
        let bench = try Workbench()
        let file = bench.keys.appending("targets.json")
        var envelope = try Envelope(try bench.files.read(file, limit: 100_000), role: "targets", limit: 100_000)
        envelope = Envelope(role: "targets", signing: envelope.signed)
        try envelope.sign(
            with: try TestKey.other.key,
            id: TUFKey(rsa: try TestKey.other.key.publicKey, scheme: .rsaPSS).id
        )
        try bench.files.replace("targets.json", in: bench.keys, with: envelope.fileBytes)
        let broken = TrustError.threshold(role: "targets", valid: 0, needed: 1)
        #expect(throws: SigningError.rootOfTrust(file, broken)) { try bench.trust }
    }

    @Test func `of testing keys is refused`() throws {
        let bench = try Workbench()
        #expect(throws: SigningError.testingKey("a key of root")) {
            try ReleaseTrust(folder: bench.keys, policy: KeyPolicy(allowsTestingKeys: false), files: bench.files)
        }
    }
}

@Suite("A key file")
struct KeyFileTests {
    private func open(_ file: FilePath, _ passphrase: String?) throws(SigningError) -> SigningKey {
        try SigningKey(file, passphrase: passphrase, policy: .forTests, files: DiskFiles())
    }

    @Test func `opens with its passphrase only`() throws {
        let bench = try Workbench()
        let file = bench.folder.appending("a.key")
        try bench.files.write(try TestKey.other.key.pem(passphrase: "correct horse"), to: file)
        #expect(try open(file, "correct horse").publicKey == TestKey.other.key.publicKey)
        #expect(throws: SigningError.key(file, .wrongPassphrase)) { try open(file, "wrong") }
        #expect(throws: SigningError.key(file, .needsPassphrase)) { try open(file, nil) }
    }

    @Test func `that is missing, unreadable or too small is refused by name`() throws {
        let bench = try Workbench()
        let file = bench.folder.appending("a.key")
        #expect(throws: SigningError.file(.notFound(.read, file))) { try open(file, nil) }
        try bench.write("-----BEGIN PRIVATE KEY-----\nnonsense\n", to: "a.key")
        #expect(throws: SigningError.key(file, .unreadable)) { try open(file, nil) }
        #expect(throws: SigningError.key(TestKey.small.file, .tooSmall(bits: 1_024))) {
            try open(TestKey.small.file, nil)
        }
    }

    @Test func `of everybody is refused outside tests`() throws {
        #expect(throws: SigningError.testingKey(TestKey.entry.file.string)) {
            try SigningKey(
                TestKey.entry.file,
                passphrase: nil,
                policy: KeyPolicy(allowsTestingKeys: false),
                files: DiskFiles()
            )
        }
    }
}
