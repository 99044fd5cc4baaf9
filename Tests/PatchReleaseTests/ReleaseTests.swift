import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@Suite("A signed release")
struct ReleaseTests {
    @Test func `has digests and signatures on every entry that openssl and coreutils agree with`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let verified = try await bench.release("v1", to: "out").verified
        let entry = bench.folder.appending("entry.pub")
        try bench.files.write(Array(try TestKey.entry.key.publicKey.pem.utf8), to: entry)
        func judge(_ file: FilePath, _ fingerprint: Fingerprint, _ signature: [UInt8], over statement: [UInt8])
            async throws
        {
            #expect(try await tool("md5sum", [file.string]).output.hasPrefix(fingerprint.md5.hex + " "))
            #expect(try await tool("sha1sum", [file.string]).output.hasPrefix(fingerprint.sha1.hex + " "))
            #expect(try await tool("sha256sum", [file.string]).output.hasPrefix(fingerprint.sha256.hex + " "))
            let (text, sig) = (bench.folder.appending("statement"), bench.folder.appending("signature"))
            try bench.files.removeIfPresent(text)
            try bench.files.removeIfPresent(sig)
            try bench.files.write(statement, to: text)
            try bench.files.write(signature, to: sig)
            let check = ["dgst", "-sha256", "-verify", entry.string, "-signature", sig.string, text.string]
            #expect(try await tool("openssl", check).output == "Verified OK\n")
        }
        let out = bench.folder.appending("out")
        #expect(
            verified.list.entries.map(\.label) == [label("fix-a", "1"), label("fix-b", "1"), label("web", "1.0.0")]
        )
        for entry in verified.list.entries {
            let statement = entry.statement(app: Workbench.app, channel: named("production"))
            let file =
                entry.kind == .script
                ? URLLayout.object(entry.fingerprint.sha256) : "targets/production/web/1.0.0/manifest.json"
            try await judge(out.appending(file), entry.fingerprint, entry.signature.bytes, over: statement)
        }
        let manifest = try #require(verified.manifests[label("web", "1.0.0")]).manifest
        let column = try SignatureColumn(
            try bench.files.read(out.appending("targets/production/web/1.0.0/manifest.sigs"), limit: 100_000),
            assets: 4
        )
        for (asset, signature) in zip(manifest.assets, column.signatures) {
            try await judge(
                out.appending(URLLayout.object(asset.fingerprint.sha256)),
                asset.fingerprint,
                signature,
                over: asset.statement(app: Workbench.app, patchID: named("web"))
            )
        }
    }

    @Test func `keeps the signatures of what did not change`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.describe("v2", web: "1.1.0", main: "changed()", script: "a2()", scriptVersion: "2")
        #expect(try await bench.release("v1", to: "one").made.signatures == SignatureCounts(made: 7, kept: 0))
        // New: fix-a 2, web 1.1.0 and its main.js. Kept: three assets, and what stands behind: fix-a 1, web 1.0.0 and its four.
        let (made, verified) = try await bench.release("v2", to: "two", on: "one")
        #expect(made.signatures == SignatureCounts(made: 3, kept: 10))
        #expect(
            verified.list.entries.map(\.label.description)
                == ["fix-a 2", "fix-a 1", "fix-b 1", "web 1.1.0", "web 1.0.0"]
        )
        let column = "targets/production/web/1.0.0/manifest.sigs"
        #expect(try bench.contents("one")[column] == bench.contents("two")[column])
        #expect(verified.quorum.valid == 1 && verified.quorum.needed == 1)
    }

    @Test func `links the objects that its base has`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.describe("v2", web: "1.1.0", main: "changed()")
        try await bench.release("v1", to: "one")
        let two = try await bench.release("v2", to: "two", on: "one").verified
        for digest in two.release.objects.keys {
            let shared = try bench.files.status(of: bench.folder.appending("one/\(URLLayout.object(digest))")) != nil
            let status = try bench.files.status(of: bench.folder.appending("two/\(URLLayout.object(digest))"))
            #expect(status?.linkCount == (shared ? 2 : 1))
        }
    }

    @Test func `signs everything anew when the entry key is another`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
        let (made, verified) = try await bench.release("v1", to: "two", on: "one", entry: .other)
        #expect(made.signatures == SignatureCounts(made: 7, kept: 0))
        #expect(Array(verified.role.entryKeys.keys.keys) == [EntryKeys.id(of: try TestKey.other.key.publicKey)])
    }

    @Test func `is made again byte for byte at the same time, but for the role's signatures`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let one = try await bench.release("v1", to: "one").verified.release
        let two = try await bench.release("v1", to: "two").verified.release
        var (first, second) = (try bench.contents("one"), try bench.contents("two"))
        #expect(one.role.signed == two.role.signed)
        #expect(first.removeValue(forKey: "role.json") != nil && second.removeValue(forKey: "role.json") != nil)
        #expect(first == second)
    }

    @Test func `described again later stays the same under its labels`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let one = try await bench.release("v1", to: "one").verified
        let two = try await bench.release("v1", to: "two", on: "one", at: Workbench.time.adding(.days(1))).verified
        #expect(one.list.entries == two.list.entries)
        #expect(two.list.list.serial == 2)
        #expect(two.role.header.version == 2)
        #expect(
            two.release.header.base
                == ReleaseHeader.Base(roleVersion: 1, sha256: one.release.role.identity)
        )
    }

    @Test func `is refused when a label comes with another file, which is named`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.describe("v2", main: "changed()")
        try await bench.release("v1", to: "one")
        await #expect(throws: SigningError.republished(label("web", "1.0.0"), difference: "app/main.js changed")) {
            try await bench.release("v2", to: "two", on: "one")
        }
        #expect(try bench.files.list(bench.folder) == ["Keys", "one", "v1", "v2"])
    }

    @Test func `has the same manifest whenever it is described, unless a time is named`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let later = Workbench.time.adding(.days(9))
        func digest(_ output: String, at time: UTCTime, created: UTCTime? = nil) async throws -> SHA256Digest? {
            let made = try await bench.release("v1", to: output, at: time, created: created)
            return made.verified.list.entries.first { $0.kind == .bundle }?.fingerprint.sha256
        }
        let first = try await digest("now", at: Workbench.time)
        #expect(try await digest("later", at: later) == first && first != nil)
        #expect(try await digest("dated", at: later, created: later) != first)
        // On a base that lists the label with a time, the time stays: the label has one content.
        let again = try await bench.release("v1", to: "again", on: "dated", at: later.adding(.days(1)))
        #expect(again.verified.manifests[label("web", "1.0.0")]?.manifest.created == later)
    }

    @Test func `with a threshold of two is complete once both holders signed the same bytes`() async throws {
        let bench = try Workbench(threshold: 2)
        try bench.describe("v1")
        var release = try await bench.release("v1", to: "one").verified
        #expect(release.quorum.valid == 1 && release.quorum.needed == 2)
        let folder = bench.folder.appending("one")
        #expect(throws: SigningError.incomplete(folder, role: "production", valid: 1, needed: 2)) {
            try BaseRelease(folder: folder, rootOfTrust: try bench.trust, files: bench.files)
        }
        var signed = release.release
        let delegation = try bench.trust.delegation(to: named("production"))
        try signed.sign(with: try TestKey.production.signer, for: delegation)
        #expect(delegation.keys.validSignatures(on: signed.role) == 1)
        try signed.sign(with: try TestKey.second.signer, for: delegation)
        try signed.saveRole(in: folder, files: bench.files)
        release = try VerifiedRelease(folder: folder, rootOfTrust: try bench.trust, files: bench.files)
        #expect(release.quorum.valid == 2 && release.quorum.needed == 2)
    }

    @Test func `is not signed with another channel's key`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        await #expect(throws: SigningError.notASigner(TestKey.beta.file, role: "production")) {
            try await bench.release("v1", to: "one", by: [.beta])
        }
        #expect(try bench.files.list(bench.folder) == ["Keys", "v1"])
    }

    @Test(arguments: [TestKey.root, .targets, .production, .online])
    func `takes no role's key for entries`(_ key: TestKey) throws {
        let bench = try Workbench()
        let role = key == .online ? "snapshot" : key.rawValue
        #expect(throws: SigningError.keyInTwoUses(key.file, also: "role \(role)")) { try bench.builder(entry: key) }
    }

    @Test func `is not signed with the key that signs its entries`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        await #expect(throws: SigningError.keyInTwoUses(TestKey.other.file, also: "this release's entries")) {
            try await bench.release("v1", to: "one", entry: .other, by: [.other])
        }
    }

    @Test func `loses a withdrawn patch and keeps all other bytes`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let one = try await bench.release("v1", to: "one").verified
        let builder = try bench.builder(on: "one")
        let made = try await builder.withdraw(named("web"), version: nil, from: try #require(builder.base))
        let two = try bench.write(made, to: "two", with: builder)
        #expect(made.signatures == SignatureCounts(made: 0, kept: 2))
        #expect(two.list.entries == Array(one.list.entries.prefix(2)))
        #expect(two.release.targets.keys.map(\.text) == ["production/patchlist.json"])
        #expect(two.release.objects.count == 2)
    }

    @Test func `takes no base that was altered`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let one = try await bench.release("v1", to: "one").verified
        let entry = one.list.entries[0]
        let object = bench.folder.appending("one/\(URLLayout.object(entry.fingerprint.sha256))")
        try bench.files.remove(object)
        try bench.files.write(Array("b()".utf8), to: object)
        let fault = EntryFault(entry: "fix-a 1", rule: .differs("md5"))
        #expect(throws: SigningError.release(bench.folder.appending("one"), .trust(.entry(fault)))) {
            try bench.builder(on: "one")
        }
    }

    @Test(arguments: [("delegations", true), ("x-note", true), ("targets", true), ("spec_version", false)])
    func `is refused when its role holds what nobody is shown, and not for its version of TUF`(
        _ member: String,
        isRefused: Bool
    ) async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        _ = try await bench.release("v1", to: "out")
        let release = try SignedRelease(folder: bench.folder.appending("out"), files: bench.files)
        var signed = try #require(release.role.signed.object)
        switch member {
        case "targets":
            var rows = try #require(signed["targets"]?.object)
            let first = try #require(rows.members.first)
            var row = try #require(first.value.object)
            row["custom"] = .fields([("x", .bool(true))])
            rows[first.key.text] = .object(row)
            signed["targets"] = .object(rows)
        case "delegations": signed[member] = .fields([("keys", .fields([])), ("roles", .array([]))])
        default: signed[member] = .text("1.0.99")
        }
        let changed = SignedRelease(
            header: release.header,
            role: Envelope(role: "production", signing: .object(signed)),
            targets: release.targets,
            objects: release.objects
        )
        let delegation = try bench.trust.delegation(to: named("production"))
        let error = FormatError(
            "production",
            field: "signed.\(member)",
            rule: "has members that are not part of a release"
        )
        var found: ReleaseError?
        do throws(ReleaseError) {
            _ = try VerifiedRelease(changed, delegation: delegation, files: bench.files)
        } catch { found = error }
        #expect(found == (isRefused ? .format(error) : nil))
    }

    @Test func `replaces nothing unless it is told to`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
        let before = try bench.contents("one")
        await #expect(throws: SigningError.exists(bench.folder.appending("one"))) {
            try await bench.release("v1", to: "one")
        }
        #expect(try bench.contents("one") == before)
        let builder = try bench.builder(on: "one")
        let made = try await builder.withdraw(named("web"), version: nil, from: try #require(builder.base))
        _ = try bench.write(made, to: "two", with: builder)
        _ = try bench.writer("two", force: true).write(
            made.release,
            rootOfTrust: builder.rootOfTrust,
            base: builder.base
        )
        #expect(
            try BaseRelease(folder: bench.folder.appending("two"), rootOfTrust: try bench.trust, files: bench.files)
                .contents.list.entries.count == 2
        )
        #expect(try bench.files.list(bench.folder) == ["Keys", "one", "two", "v1"])
    }
}
