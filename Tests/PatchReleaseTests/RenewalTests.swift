import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@Suite("A renewed release")
struct RenewalTests {
    private func renew(
        _ bench: Workbench,
        _ base: String,
        to output: String,
        quorum: BaseRelease.SignatureRule = .complete,
        above: Int = 0,
        entry: TestKey = .entry,
        keeping: [TestKey] = [],
        by signers: [TestKey] = [.production]
    ) async throws -> (made: MadeRelease, verified: VerifiedRelease) {
        let trust = try bench.trust
        let base = try BaseRelease(
            folder: bench.folder.appending(base),
            rootOfTrust: trust,
            quorum: quorum,
            above: above,
            files: bench.files
        )
        let builder = try ReleaseBuilder(
            rootOfTrust: trust,
            base: base,
            time: Workbench.time.adding(.days(80)),
            validity: .days(90),
            entrySigner: try entry.signer,
            keptEntryKeys: try keeping.map { (file: $0.file, key: try $0.publicKey) },
            roleSigners: try signers.map { try $0.signer },
            files: bench.files
        )
        let made = try await builder.renew(base)
        return (made, try bench.write(made, to: output, with: builder))
    }

    @Test func `lists the same, in the next version, for longer`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let one = try await bench.release("v1", to: "one").verified
        let (made, two) = try await renew(bench, "one", to: "two")
        #expect(made.signatures == SignatureCounts(made: 0, kept: 7))
        #expect(two.list.entries == one.list.entries)
        #expect(two.role.header.version == 2)
        #expect(two.role.header.expires == Workbench.time.adding(.days(170)))
        #expect(two.quorum.isComplete)
    }

    /// Makes a builder without an entry key.
    private func keylessBuilder(_ bench: Workbench, on base: BaseRelease?) throws -> ReleaseBuilder {
        try ReleaseBuilder(
            rootOfTrust: try bench.trust,
            base: base,
            time: Workbench.time.adding(.days(80)),
            validity: .days(90),
            entrySigner: nil,
            roleSigners: [try TestKey.production.signer],
            files: bench.files
        )
    }

    @Test func `keeps all entry signatures without the entry key`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let one = try await bench.release("v1", to: "one").verified
        let base = try BaseRelease(
            folder: bench.folder.appending("one"),
            rootOfTrust: try bench.trust,
            files: bench.files
        )
        let builder = try keylessBuilder(bench, on: base)
        let made = try await builder.renew(base)
        #expect(made.signatures == SignatureCounts(made: 0, kept: 7))
        let two = try bench.write(made, to: "two", with: builder)
        #expect(two.list.entries == one.list.entries && two.role.entryKeys == one.role.entryKeys)
    }

    @Test func `with a new entry is not made without the entry key`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let folder = bench.folder.appending("v1")
        let description = try ReleaseDescription(folder: folder, files: bench.files)
        let builder = try keylessBuilder(bench, on: nil)
        let missing = SigningError.noKey("entry.key", in: try bench.trust.folder)
        await #expect(throws: missing) { try await builder.release(description, in: folder) }
    }

    @Test(arguments: [(above: 1, version: 2), (above: 2, version: 3), (above: 41, version: 42)])
    func `comes after a version that a thief has used`(_ above: Int, _ version: Int) async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let one = try await bench.release("v1", to: "one").verified
        let two = try await renew(bench, "one", to: "two", above: above).verified
        #expect(two.role.header.version == version)
        let sha256 = one.release.role.identity
        #expect(two.release.header.base == ReleaseHeader.Base(roleVersion: version - 1, sha256: sha256))
    }

    /// Makes a release that one of two signed, and takes that one's key away.
    static func revoked() async throws -> Workbench {
        let bench = try Workbench()
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
        let folder = TrustFolder(bench.keys, policy: .forTests, files: bench.files)
        let authorities = try bench.trust.authorities()
        let edits = try authorities.revoking(.key(try TestKey.production.publicKey), in: bench.keys)
        let draft = try folder.draft(edits, on: try bench.trust.roles, at: Workbench.time)
        let signed = try folder.change(draft, at: "/x").signed(with: try TestKey.targets.signer)
        try folder.publish(signed, at: Workbench.time, from: "/x")
        return bench
    }

    @Test func `stands on a base whose quorum is lost only when that is asked for`() async throws {
        let bench = try await Self.revoked()
        let lost = SigningError.incomplete(bench.folder.appending("one"), role: "production", valid: 0, needed: 1)
        await #expect(throws: lost) { try await renew(bench, "one", to: "two", by: [.second]) }
        #expect(try bench.files.list(bench.folder) == ["Keys", "one", "v1"])
        let two = try await renew(bench, "one", to: "two", quorum: .mayBeLost, by: [.second]).verified
        #expect(two.quorum.isComplete && two.role.header.version == 2)
        await #expect(throws: SigningError.notASigner(TestKey.production.file, role: "production")) {
            try await renew(bench, "one", to: "three", quorum: .mayBeLost)
        }
    }

    @Test func `stands on no base of which anything else does not hold`() async throws {
        let bench = try await Self.revoked()
        let folder = bench.folder.appending("one")
        let list = folder.appending("targets/production/patchlist.json")
        let bytes = try bench.files.read(list, limit: Limits.patchList)
        try bench.files.remove(list)
        try bench.files.write(bytes.dropLast() + [0x20], to: list)
        let broken = TrustError.wrongDigest(name: "production/patchlist.json", algorithm: "sha256")
        await #expect(throws: SigningError.release(folder, .trust(broken))) {
            try await renew(bench, "one", to: "two", quorum: .mayBeLost, by: [.second])
        }
    }

    @Test func `with another entry key signs everything anew and keeps the old key on request`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
        let (made, two) = try await renew(bench, "one", to: "two", entry: .other, keeping: [.entry])
        #expect(made.signatures == SignatureCounts(made: 7, kept: 0))
        let (old, new) = (EntryKeys.id(of: try TestKey.entry.publicKey), EntryKeys.id(of: try TestKey.other.publicKey))
        #expect(Set(two.role.entryKeys.keys.keys) == [old, new])
        #expect(two.list.entries.allSatisfy { $0.signature.keyID == new })
        let three = try await renew(bench, "two", to: "three", entry: .other).verified
        #expect(Set(three.role.entryKeys.keys.keys) == [new])
    }

    @Test func `keeps no role's key as an entry key`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
        await #expect(throws: SigningError.keyInTwoUses(TestKey.beta.file, also: "role beta")) {
            try await renew(bench, "one", to: "two", keeping: [.beta])
        }
        await #expect(throws: SigningError.keyInTwoUses(TestKey.production.file, also: "role production")) {
            try await renew(bench, "one", to: "two", keeping: [.production])
        }
    }
}

@Suite("What must be signed again")
struct TrustStatusTests {
    @Test func `is what ends within the time, or has ended`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
        let status = try TrustStatus(
            try bench.trust,
            releases: [bench.folder.appending("one")],
            files: bench.files
        )
        #expect(status.roles.map(\.role) == ["root", "targets", "production"])
        #expect(status.roles.map(\.version) == [1, 1, 1])
        func due(_ days: Int, within: Int) -> [String] {
            status.due(within: .days(within), at: Workbench.time.adding(.days(days))).map(\.role)
        }
        #expect(due(59, within: 30) == [])
        #expect(due(60, within: 30) == ["production"])
        #expect(due(90, within: 0) == ["production"])
        #expect(due(335, within: 30) == ["root", "targets", "production"])
    }

    private func status(_ bench: Workbench, _ release: String = "one") throws -> TrustStatus {
        try TrustStatus(try bench.trust, releases: [bench.folder.appending(release)], files: bench.files)
    }

    @Test func `is a release below its threshold`() async throws {
        let bench = try Workbench(threshold: 2)
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
        #expect(try status(bench).incomplete.map(\.role) == ["production"])
        #expect(try status(bench).roles.last?.quorum == VerifiedRelease.SignatureTally(valid: 1, needed: 2))
        try await bench.release("v1", to: "both", by: [.production, .second])
        #expect(try status(bench, "both").incomplete.isEmpty)
    }

    @Test func `knows who has signed it as it is`() async throws {
        let bench = try Workbench(threshold: 2)
        try bench.describe("v1")
        let role = try await bench.release("v1", to: "one").verified.release.role
        let keys = try bench.trust.delegation(to: named("production")).keys
        #expect(try TestKey.production.signer.hasSigned(role, for: keys))
        #expect(try !TestKey.second.signer.hasSigned(role, for: keys))
    }

    @Test func `is a release of keys that may not sign any more`() async throws {
        let bench = try await RenewalTests.revoked()
        #expect(try status(bench).incomplete.map(\.role) == ["production"])
        #expect(try status(bench).roles.last?.quorum == VerifiedRelease.SignatureTally(valid: 0, needed: 1))
    }

    @Test func `is not taken from bytes that nobody signed`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
        let (folder, file) = (bench.folder.appending("one"), bench.folder.appending("one/role.json"))
        let role = String(decoding: try bench.files.read(file, limit: Limits.targetsRole), as: UTF8.self)
        try bench.write(role.replacing("\"expires\":\"2027", with: "\"expires\":\"2047"), to: "one/role.json")
        let forged = TrustError.threshold(role: "production", valid: 0, needed: 1)
        #expect(throws: SigningError.release(folder, .trust(forged))) { try status(bench) }
    }

    @Test func `is of one app`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
        let release = try SignedRelease(folder: bench.folder.appending("one"), files: bench.files)
        let other = SignedRelease(
            header: ReleaseHeader(app: named("com.example.other"), channel: named("production"), base: nil),
            role: release.role,
            targets: release.targets,
            objects: release.objects
        )
        let folder = bench.folder.appending("other")
        try other.write(to: folder, files: bench.files)
        let foreign = SigningError.foreign(
            folder,
            found: "app com.example.other",
            expected: "app com.example.storefront"
        )
        #expect(throws: foreign) { try TrustStatus(try bench.trust, releases: [folder], files: bench.files) }
    }
}
