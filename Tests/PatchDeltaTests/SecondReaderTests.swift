import FoundationEssentials
import PatchDelta
import PatchFormat
import PatchCrypto
import Subprocess
import Testing

/// Packs as a reader in another language sees them: `pack.py`, written from the format's page.
@Suite("A second reader of packs")
struct SecondReaderTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    private static let vectors = tests.deletingLastPathComponent().appending(path: "Vectors/packs")

    private static func bytes(_ file: URL) throws -> [UInt8] { Array(try Data(contentsOf: file)) }

    /// What `pack.py` makes of a pack; nil when it refuses it.
    ///
    /// - Parameter contents: a folder with the base's contents, each under its SHA-256.
    private func read(base: URL, contents: URL, pack: URL) async throws -> (manifest: [UInt8], made: Set<String>)? {
        let out = FileManager.default.temporaryDirectory.appending(path: "packs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: out, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: out) }
        let script = Self.tests.appending(path: "pack.py")
        let result = try await Subprocess.run(
            .name("python3"),
            arguments: Arguments([script, base, contents, pack, out].map { $0.path }),
            output: .string(limit: 1_000),
            error: .discarded
        )
        guard result.terminationStatus == .exited(0) else { return nil }
        let manifest = try Self.bytes(out.appending(path: "manifest.json"))
        #expect(result.standardOutput == "\(SHA256Digest(of: manifest))\n")
        var made = Set(try FileManager.default.contentsOfDirectory(atPath: out.path))
        made.remove("manifest.json")
        for name in made { #expect(SHA256Digest(of: try Self.bytes(out.appending(path: name))).hex == name) }
        return (manifest, made)
    }

    @Test(arguments: ["hostile", "lzma2", "members", "others", "patched", "tokens", "unchanged"])
    func `makes the same of the vectors as this one`(_ name: String) async throws {
        let folder = Self.vectors.appending(path: name)
        let (base, contents) = (folder.appending(path: "base.json"), folder.appending(path: "contents"))
        let pack = folder.appending(path: "from-base.pack")
        let new = try Self.bytes(folder.appending(path: "new.json"))

        let found = try #require(try await read(base: base, contents: contents, pack: pack))
        #expect(found.manifest == new)

        var reader = PackReader(
            base: try PackManifest(try Self.bytes(base)),
            manifest: SHA256Digest(of: new),
            objects: PackObjects { digest in
                (try? Self.bytes(contents.appending(path: digest.hex))).map { BytesInMemory($0) }
            },
            limits: PackReader.Bounds(pack: 1 << 16, contents: 1 << 20)
        )
        reader.feed(try Self.bytes(pack))
        var made: Set<String> = []
        while let result = try reader.next() {
            if case .content(let fingerprint, _) = result { made.insert(fingerprint.sha256.hex) }
        }
        #expect(try reader.finish() == new)
        #expect(made == found.made)
    }

    @Test func `refuses each hostile pack, and takes the one that they were made of`() async throws {
        let folder = HostilePack.folder
        let packs = HostilePack.all.map { "\($0.name).pack" } + ["from-base.pack"]
        let files = (["new.json", "base.json", "contents"] + packs).map { folder.appending(path: $0).path }
        let script = Self.tests.appending(path: "pack.py").path
        let result = try await Subprocess.run(
            .name("python3"),
            arguments: Arguments([script, "--refuse"] + files),
            output: .string(limit: 10_000),
            error: .string(limit: 10_000)
        )
        #expect(result.standardOutput == "from-base.pack\n")
        #expect(result.standardError == "")
        #expect(result.terminationStatus == .exited(1))
    }

    @Test func `has hostile packs that can be written again, byte for byte`() async throws {
        let again = FileManager.default.temporaryDirectory.appending(path: "packs-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: again) }
        let script = HostilePack.folder.appending(path: "make.py").path
        let made = try await Subprocess.run(
            .name("python3"),
            arguments: [script, again.path],
            output: .discarded,
            error: .discarded
        )
        #expect(made.terminationStatus == .exited(0))
        let difference = try await Subprocess.run(
            .name("diff"),
            arguments: ["-r", "-x", "make.py", HostilePack.folder.path, again.path],
            output: .string(limit: 10_000),
            error: .discarded
        )
        #expect(difference.standardOutput == "")
    }

    @Test(arguments: PackTests.Naming.allCases)
    func `makes of a pack what was packed`(_ naming: PackTests.Naming) async throws {
        var (base, new) = (naming.bundle(1), naming.bundle(2))
        base.files["ü.bin"] = [1, 2, 3]
        new.files["added \" name.html"] = Array("<p>new</p>".utf8)
        new.files["index.html.map"] = Array("{}".utf8)
        new.cacheable = ["index.html"]
        let update = Update(base: base, new: new)
        let folder = FileManager.default.temporaryDirectory.appending(path: "packs-\(UUID().uuidString)")
        let contents = folder.appending(path: "contents")
        try FileManager.default.createDirectory(at: contents, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (manifest, pack) = (folder.appending(path: "base.json"), folder.appending(path: "from-base.pack"))
        try Data(try base.manifest()).write(to: manifest)
        try Data(try update.pack().bytes).write(to: pack)
        for (digest, content) in base.objects { try Data(content).write(to: contents.appending(path: digest.hex)) }

        let found = try #require(try await read(base: manifest, contents: contents, pack: pack))
        #expect(found.manifest == (try new.manifest()))
        #expect(found.made.isSuperset(of: Set(new.objects.keys).subtracting(base.objects.keys).map(\.hex)))
    }
}
