import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@Suite("A release with JSPatch forms")
struct JSPatchReleaseTests {
    @discardableResult
    private static func release(
        _ name: String,
        to output: String,
        on base: String? = nil,
        entry: TestKey = .entry,
        jspatch: TestKey?,
        in bench: Workbench
    ) async throws -> (made: MadeRelease, verified: VerifiedRelease) {
        let trust = try bench.trust
        let builder = try ReleaseBuilder(
            rootOfTrust: trust,
            base: try base.map {
                try BaseRelease(folder: bench.folder.appending($0), rootOfTrust: trust, files: bench.files)
            },
            time: Workbench.time,
            validity: .days(90),
            entrySigner: try entry.signer,
            roleSigners: [try TestKey.production.signer],
            jspatchSigner: try jspatch?.signer,
            files: bench.files
        )
        let source = bench.folder.appending(name)
        let made = try await builder.release(
            try ReleaseDescription(folder: source, files: bench.files),
            in: source
        )
        return (made, try bench.write(made, to: output, with: builder))
    }

    @Test func `has them on each script, and openssl recovers the digests with the key that the role lists`()
        async throws
    {
        let bench = try Workbench()
        try bench.describe("v1")
        let (made, verified) = try await Self.release("v1", to: "out", jspatch: .other, in: bench)
        let key = try TestKey.other.key.publicKey
        let id = JSPatchSignature.keyID(of: key)
        #expect(made.jspatch == SignatureCounts(made: 4, kept: 0))
        #expect(verified.list.entries.map { $0.jspatch?.keyID } == [id, id, nil])
        #expect(verified.jspatchKeys == JSPatchKeys([key]))
        #expect(Array(verified.role.entryKeys.keys.keys) == [EntryKeys.id(of: try TestKey.entry.key.publicKey)])
        #expect(
            verified.release.role.signed[EntryKeys.member]?[id.hex]?.canonicalBytes
                == JSON.fields([
                    ("keytype", .text("rsa")), ("scheme", .text("rsa-pkcs1v15-bare")),
                    ("keyval", .fields([("public", .text(key.pem))])), ("usage", .text("jspatch")),
                ]).canonicalBytes
        )
        try bench.write(key.pem, to: "pub")
        for entry in verified.list.entries.prefix(2) {
            let form = try #require(entry.jspatch)
            for (signature, digest) in [(form.md5, entry.fingerprint.md5.hex), (form.sha1, entry.fingerprint.sha1.hex)]
            {
                let file = bench.folder.appending("sig")
                try bench.files.removeIfPresent(file)
                try bench.files.write(signature, to: file)
                let recover = ["pkeyutl", "-verifyrecover", "-pubin", "-inkey", bench.folder.appending("pub").string]
                #expect(try await tool("openssl", recover + ["-in", file.string]).output == digest)
            }
        }
    }

    @Test func `keeps those of what did not change, with the key or without`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.describe("v2", script: "a2()", scriptVersion: "2")
        let one = try await Self.release("v1", to: "one", jspatch: .other, in: bench).verified
        let with = try await Self.release("v2", to: "with", on: "one", jspatch: .other, in: bench)
        #expect(with.made.jspatch == SignatureCounts(made: 2, kept: 4))
        let without = try await Self.release("v2", to: "without", on: "one", jspatch: nil, in: bench)
        #expect(without.made.jspatch == SignatureCounts(made: 0, kept: 4))
        let entries = without.verified.list.entries
        #expect(entries.map(\.label.description) == ["fix-a 2", "fix-a 1", "fix-b 1", "web 1.0.0"])
        #expect(entries.map { $0.jspatch != nil } == [false, true, true, false])
        #expect(entries[1].jspatch == one.list.entries[0].jspatch)
        #expect(without.verified.jspatchKeys == one.jspatchKeys)
    }

    @Test func `has all anew when their key is another, and lists that alone`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try await Self.release("v1", to: "one", jspatch: .other, in: bench)
        let key = try PrivateKey.generate(.rsa(bits: 2_048))
        let file = bench.folder.appending("new.key")
        try bench.files.write(try key.unencryptedPEM(), to: file)
        let trust = try bench.trust
        let builder = try ReleaseBuilder(
            rootOfTrust: trust,
            base: try BaseRelease(folder: bench.folder.appending("one"), rootOfTrust: trust, files: bench.files),
            time: Workbench.time,
            validity: .days(90),
            entrySigner: try TestKey.entry.signer,
            roleSigners: [try TestKey.production.signer],
            jspatchSigner: try SigningKey(file, passphrase: nil, policy: .forTests, files: bench.files),
            files: bench.files
        )
        let source = bench.folder.appending("v1")
        let made = try await builder.release(try ReleaseDescription(folder: source, files: bench.files), in: source)
        #expect(made.jspatch == SignatureCounts(made: 4, kept: 0))
        #expect(try bench.write(made, to: "two", with: builder).jspatchKeys == JSPatchKeys([key.publicKey]))
    }

    @Test func `is refused when its key has another use`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        for (key, use) in [
            (TestKey.production, "role production"), (.online, "role snapshot"), (.root, "role root"),
            (.entry, "this release's entries"),
        ] {
            await #expect(throws: SigningError.keyInTwoUses(key.file, also: use)) {
                try await Self.release("v1", to: "out", jspatch: key, in: bench)
            }
        }
        try await Self.release("v1", to: "one", jspatch: .other, in: bench)
        await #expect(throws: SigningError.keyInTwoUses(TestKey.other.file, also: "the base's JSPatch forms")) {
            try await Self.release("v1", to: "two", on: "one", entry: .other, jspatch: nil, in: bench)
        }
        try await Self.release("v1", to: "plain", entry: .other, jspatch: nil, in: bench)
        await #expect(throws: SigningError.keyInTwoUses(TestKey.other.file, also: "the base's entries")) {
            try await Self.release("v1", to: "two", on: "plain", jspatch: .other, in: bench)
        }
        #expect(try bench.files.list(bench.folder) == ["Keys", "one", "plain", "v1"])
    }

    @Test func `does not verify with a form over another file, or by a key that the role does not list`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let verified = try await Self.release("v1", to: "out", jspatch: .other, in: bench).verified
        let (a, b) = (verified.list.entries[0], verified.list.entries[1])
        try verified.jspatchKeys.check(a)
        #expect(
            throws: EntryFault(
                entry: "fix-a 1",
                rule: .unreadable(
                    "JSPatch form: the signature covers \(b.fingerprint.md5.hex), the file's digest is "
                        + a.fingerprint.md5.hex
                )
            )
        ) { try verified.jspatchKeys.check(a.with(b.jspatch)) }
        let id = JSPatchSignature.keyID(of: try TestKey.other.key.publicKey)
        #expect(throws: EntryFault(entry: "fix-a 1", rule: .unknownKey(id))) { try JSPatchKeys.none.check(a) }
    }
}

extension PatchEntry {
    fileprivate func with(_ form: JSPatchForm?) -> PatchEntry {
        PatchEntry(
            patchID: patchID,
            kind: kind,
            version: version,
            url: url,
            fingerprint: fingerprint,
            signature: signature,
            salt: salt,
            requires: requires,
            rules: rules,
            jspatch: form
        )
    }
}
