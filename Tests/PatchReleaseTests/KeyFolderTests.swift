import PatchFormat
@testable import PatchRelease
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import Synchronization
import SystemPackage
import Testing

@Suite("A new key")
struct KeyMakerTests {
    @Test func `is a file for its owner alone and a public one, and opens with its passphrase`() throws {
        let bench = try Workbench()
        let folder = bench.folder.appending("new/place")
        let maker = try KeyMaker("production-carol", in: folder, files: bench.files)
        let key = try maker.make(.p256, protection: .passphrase("secret"))
        #expect(try bench.files.list(folder) == [".gitignore", "production-carol.key", "production-carol.pub"])
        #expect(try bench.files.status(of: maker.keyFile)?.permissions == FilePermissions(rawValue: 0o600))
        #expect(try bench.text("new/place/production-carol.pub") == key.pem)
        let read = try SigningKey(maker.keyFile, passphrase: "secret", policy: .forTests, files: bench.files)
        #expect(read.publicKey == key)
    }

    @Test(arguments: ["a.key", "a.pub"])
    func `replaces nothing`(_ name: String) throws {
        let bench = try Workbench()
        try bench.write("mine", to: name)
        #expect(throws: SigningError.exists(bench.folder.appending(name))) {
            try KeyMaker("a", in: bench.folder, files: bench.files)
        }
        #expect(try bench.text(name) == "mine")
    }

    @Test(arguments: ["", ".a", "-a", "a/b", "..", "a b", "é", String(repeating: "a", count: 65)])
    func `has a name that is one everywhere`(_ name: String) {
        #expect(throws: SigningError.keyName(name)) { try KeyMaker(name, in: "/tmp", files: DiskFiles()) }
    }

    @Test(arguments: [1_024, 2_047, 8_193])
    func `of RSA has a size that is allowed`(_ bits: Int) throws {
        let bench = try Workbench()
        let maker = try KeyMaker("a", in: bench.folder, files: bench.files)
        #expect(throws: SigningError.plan(.bits(bits))) { try maker.make(.rsa(bits: bits), protection: .none) }
        #expect(try bench.files.list(bench.folder) == ["Keys"])
    }

    @Test func `is whole under its names wherever its making is stopped`() throws {
        let empty = FaultyFiles()
        try empty.makeDirectory("/keys")
        let counted = empty.reopened()
        _ = try KeyMaker("a", in: "/keys", files: counted).make(.ed25519, protection: .none)
        #expect(counted.changes > 6)
        for change in 1...counted.changes {
            let failing = empty.reopened(failingAtChange: change, then: .running)
            #expect(throws: SigningError.self) {
                try KeyMaker("a", in: "/keys", files: failing).make(.ed25519, protection: .none)
            }
            #expect(try failing.list("/keys") == [])
            let disk = empty.reopened(failingAtChange: change)
            #expect(throws: SigningError.self) {
                try KeyMaker("a", in: "/keys", files: disk).make(.ed25519, protection: .none)
            }
            let after = disk.reopened()
            let names = try after.list("/keys").filter { !$0.hasPrefix(".") }
            #expect(names == [] || names == ["a.key"] || names == ["a.key", "a.pub"])
            guard names.contains("a.key") else { continue }
            let key = try SigningKey("/keys/a.key", passphrase: nil, policy: .forTests, files: after)
            guard names.contains("a.pub") else { continue }
            let pem = try after.read("/keys/a.pub", limit: 1_000)
            #expect(String(decoding: pem, as: UTF8.self) == key.publicKey.pem)
        }
    }
}

@Suite("The keys of a folder")
struct KeyInventoryTests {
    @Test func `are listed with kind, id, roles and how they are kept`() throws {
        let bench = try Workbench()
        func put(_ name: String, _ text: String) throws { try bench.write(text, to: "Keys/\(name)") }
        func pem(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        try put("production-alice.key", pem(try TestKey.production.key.pem(passphrase: "x")))
        try put("production-alice.pub", try TestKey.production.key.publicKey.pem)
        try put("online.key", pem(try TestKey.online.key.unencryptedPEM()))
        try put("lost.key", pem(try TestKey.other.key.pem(passphrase: "x")))
        let token = try PrivateKey.generate(.ed25519).publicKey
        try put("token.pub", token.pem)
        try put("kms.signer", "command: [x]\npublic: kms.pub\n")
        try put("kms.pub", try TestKey.targets.key.publicKey.pem)
        let rows = try KeyInventory(bench.keys, policy: .forTests, files: bench.files).rows
        #expect(rows.map(\.file) == ["kms.signer", "lost.key", "online.key", "production-alice.key", "token.pub"])
        #expect(rows.map(\.holding) == [.command, .encrypted, .clear, .encrypted, .elsewhere])
        #expect(rows.map(\.roles) == [["targets"], [], ["snapshot", "timestamp", "dial"], ["production"], []])
        let keys = [try TestKey.targets.key.publicKey, try TestKey.online.key.publicKey]
        #expect(rows[0].keyID == TUFKey(keys[0]).id && rows[2].keyID == TUFKey(keys[1]).id)
        #expect(rows[1].publicKey == nil && rows[1].keyID == nil)
        #expect(rows[4].publicKey == token && rows[4].keyID == TUFKey(token).id)
    }

    @Test func `sign entries under the name entry, and have the id that entries know`() throws {
        let bench = try Workbench()
        try bench.write(try TestKey.entry.publicKey.pem, to: "Keys/entry.pub")
        let rows = try KeyInventory(bench.keys, policy: .forTests, files: bench.files).rows
        #expect(rows.map(\.roles) == [["entries"]])
        #expect(rows.map(\.keyID) == [EntryKeys.id(of: try TestKey.entry.publicKey)])
    }

    @Test func `of entries and of roles make no JSPatch form`() throws {
        let bench = try Workbench()
        try bench.write(try TestKey.entry.publicKey.pem, to: "Keys/entry.pub")
        let trust = try bench.trust
        for (key, use) in [(TestKey.entry, "entries"), (.production, "role production")] {
            #expect(throws: SigningError.keyInTwoUses(key.file, also: use)) {
                try trust.checkJSPatchKey(try key.signer, files: bench.files)
            }
        }
        try trust.checkJSPatchKey(try TestKey.other.signer, files: bench.files)
    }

    @Test func `are named by a file, by their name there, and to be dropped by an id`() throws {
        let bench = try Workbench()
        let folder = KeyFolder(bench.keys, files: bench.files)
        let (alice, bob) = (try TestKey.production.publicKey, try TestKey.second.publicKey)
        try bench.write(alice.pem, to: "Keys/alice.pub")
        try bench.write(bob.pem, to: "Keys/0badcafe.pub")
        try bench.write(bob.pem, to: "alice.pub")
        let none = bench.folder.appending("none")
        #expect(try folder.publicKey("alice", at: none) == alice)
        #expect(try folder.publicKey("alice.pub", at: none) == alice)
        #expect(try folder.publicKey("alice.pub", at: bench.folder.appending("alice.pub")) == bob)
        #expect(throws: SigningError.self) { try folder.publicKey("carol", at: none) }
        #expect(try folder.selector("alice", at: none) == .key(alice))
        #expect(try folder.selector("0badcafe", at: none) == .key(bob))
        #expect(try folder.selector("1badcafe", at: none) == .id("1badcafe"))
    }

    @Test func `are of entries by name and by id`() throws {
        let bench = try Workbench()
        let folder = KeyFolder(bench.keys, files: bench.files)
        let entry = try TestKey.entry.publicKey
        #expect(try !folder.isEntryKey(.key(entry)))
        try bench.write(entry.pem, to: "Keys/entry.pub")
        #expect(try folder.isEntryKey(.key(entry)))
        #expect(try folder.isEntryKey(.id(String(EntryKeys.id(of: entry).hex.prefix(8)))))
        #expect(try !folder.isEntryKey(.key(try TestKey.other.publicKey)))
    }

    @Test func `are listed without a root of trust, and a damaged one is named`() throws {
        let bench = try Workbench()
        let folder = bench.folder.appending("plain")
        _ = try KeyMaker("a", in: folder, files: bench.files).make(.ed25519, protection: .none)
        let rows = try KeyInventory(folder, policy: .forTests, files: bench.files).rows
        #expect(rows.map(\.file) == ["a.key"] && rows.map(\.roles) == [[]])
        try bench.write("hello", to: "plain/b.key")
        #expect(throws: SigningError.key(folder.appending("b.key"), .unreadable)) {
            try KeyInventory(folder, policy: .forTests, files: bench.files)
        }
    }
}

@Suite("A key reference")
struct KeyReferenceTests {
    @Test func `is a file, the description of a signer or a token's URI`() throws {
        func reference(_ text: String) throws -> KeyReference {
            try KeyReference(text) { FilePath("/here").pushing(FilePath($0)) }
        }
        guard case .file("/here/a.key") = try reference("a.key"),
            case .signer("/x/a.signer") = try reference("/x/a.signer"),
            case .token(let uri) = try reference("pkcs11:token=a;object=b?module-path=/m.so")
        else {
            Issue.record("not what was written")
            return
        }
        #expect(uri.modulePath == "/m.so")
        #expect(KeyReference.token(uri).name == "pkcs11:token=a;object=b")
        #expect(
            throws: SigningError.token(
                "pkcs11:token=a;object=b",
                .uri("must not contain pin-value; give the PIN with --pin-file or --pin-env")
            )
        ) { try reference("pkcs11:token=a;object=b?pin-value=4711") }
    }

    @Test func `to a token needs a module and a PIN`() throws {
        let uri = try TokenURI("pkcs11:token=a;object=b")
        #expect(throws: SigningError.token("pkcs11:token=a;object=b", .unnamedModule)) {
            try SigningKey(token: uri, module: nil, pin: "1", policy: .forTests)
        }
        #expect(throws: SigningError.token("pkcs11:token=a;object=b", .needsPIN)) {
            try SigningKey(token: uri, module: "/m.so", pin: nil, policy: .forTests)
        }
    }
}

@Suite("Work on all cores")
struct AllCoresTests {
    private struct Broken: Error, Equatable {
        let place: Int
    }

    @Test func `gives the first error, and begins nothing long behind it`() async throws {
        let begun = Mutex<[Int]>([])
        await #expect(throws: Broken(place: 3)) {
            _ = try await mapOnAllCores(Array(0..<2_000), chunk: 1) { (place) throws(Broken) in
                begun.withLock { $0.append(place) }
                if place == 3 || place > 1_000 { throw Broken(place: place) }
                return place
            }
        }
        #expect(begun.withLock { Set($0).isSuperset(of: 0...3) && $0.count < 1_000 })
    }

    @Test func `says how much of it is done while it is done`() async throws {
        let reported = Mutex(0)
        let begun = Mutex<[(number: Int, reported: Int)]>([])
        let progress: ProgressStart = { _ in { done in reported.withLock { $0 = max($0, done) } } }
        _ = await mapOnAllCores(Array(0..<500), chunk: 1, progress: progress) { (_: Int) throws(Never) in
            let now = reported.withLock { $0 }
            begun.withLock { $0.append(($0.count, now)) }
        }
        // No more are under way at a time than there are threads.
        let late = begun.withLock { $0 }.filter { $0.reported < $0.number - 256 }
        #expect(late.isEmpty && reported.withLock { $0 } == 500, "\(late.prefix(3))")
    }
}
