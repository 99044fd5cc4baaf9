import PatchCompression
import PatchFormat
import PatchTesting
import SystemPackage
import Testing

@testable import PatchRelease

@Suite("Secrets in an archive")
struct ArchiveSearchTests {
    private static let pem =
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIB0vJt7sKqPzXW5dGcYh3uRk8LmQnT2vAeFy1oHj6wZs\n-----END PRIVATE KEY-----\n"
    private static let plain = Array("a plain text\n".utf8)
    private static let key = Array(pem.utf8)

    private static func found(
        _ bytes: [UInt8],
        _ format: ArchiveFormat,
        named name: String = "a.tar.gz",
        _ bounds: ArchiveSearch.Bounds = .init()
    ) -> ArchiveSearch {
        var search = ArchiveSearch(bounds)
        search.search(bytes, format, named: name)
        return search
    }

    /// `app/key.txt: a private key (PEM)`.
    private static func findings(_ search: ArchiveSearch) -> [String] {
        search.secrets.map { "\($0.entry): \($0.kind.words)" } + (search.gap.map { [$0.rawValue] } ?? [])
    }

    private static func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try CompressionFormat.gzip.compressed(bytes) }

    // MARK: Archives

    private struct Entry {
        var name: String
        var bytes: [UInt8]
        var method = 8
        var flags = 0
        /// Of the list, in place of the right one.
        var size: Int?
        var offset: Int?
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func zip(
        _ entries: [Entry],
        before: [UInt8] = [],
        isLong: Bool = false,
        count: Int? = nil
    ) throws -> [UInt8] {
        var (archive, list): ([UInt8], [UInt8]) = (before, [])
        for entry in entries {
            let offset = archive.count - before.count
            let packed = entry.method == 8 ? try BareDeflate.compressed(entry.bytes) : entry.bytes
            let name = Array(entry.name.utf8)
            let size = entry.size ?? packed.count
            // As a streaming writer leaves them: without sizes.
            archive += little(0x0403_4B50, 4) + little(20, 2) + little(entry.flags | 8, 2) + little(entry.method, 2)
            archive += [UInt8](repeating: 0, count: 16) + little(name.count, 2) + little(0, 2) + name + packed
            let extra = isLong ? little(1, 2) + little(16, 2) + little(size, 8) + little(offset, 8) : []
            list += little(0x0201_4B50, 4) + little(20, 2) + little(20, 2) + little(entry.flags, 2)
            list += little(entry.method, 2) + [UInt8](repeating: 0, count: 8)
            list += little(isLong ? 0xFFFF_FFFF : size, 4) + little(entry.bytes.count, 4) + little(name.count, 2)
            list += little(extra.count, 2) + [UInt8](repeating: 0, count: 10)
            list += little(isLong ? 0xFFFF_FFFF : entry.offset ?? offset, 4) + name + extra
        }
        let (start, number) = (archive.count - before.count, count ?? entries.count)
        archive += list
        if isLong {
            let place = archive.count
            archive += little(0x0606_4B50, 4) + little(44, 8) + [UInt8](repeating: 0, count: 12)
            archive += little(number, 8) + little(number, 8) + little(list.count, 8) + little(start, 8)
            archive += little(0x0706_4B50, 4) + little(0, 4) + little(place, 8) + little(1, 4)
            return archive + little(0x0605_4B50, 4) + little(0, 4) + little(0xFFFF, 2) + little(0xFFFF, 2)
                + little(0xFFFF_FFFF, 4) + little(0xFFFF_FFFF, 4) + little(0, 2)
        }
        return archive + little(0x0605_4B50, 4) + little(0, 4) + little(number, 2) + little(number, 2)
            + little(list.count, 4) + little(start, 4) + little(0, 2)
    }

    private static func block(
        _ name: String,
        _ bytes: [UInt8],
        kind: Character = "0",
        prefix: String = "",
        size: String? = nil
    ) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: 512)
        func put(_ text: String, _ place: Int) {
            block.replaceSubrange(place..<place + text.utf8.count, with: Array(text.utf8))
        }
        let octal = String(bytes.count, radix: 8)
        put(name, 0)
        put(size ?? String(repeating: "0", count: 11 - octal.count) + octal, 124)
        put(String(kind), 156)
        put("ustar", 257)
        put(prefix, 345)
        put("        ", 148)
        let sum = String(block.reduce(0) { $0 + Int($1) }, radix: 8)
        put(String(repeating: "0", count: 6 - sum.count) + sum + "\u{0} ", 148)
        return block + bytes + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
    }

    private static let end = [UInt8](repeating: 0, count: 1_024)

    // MARK: Zip

    @Test(arguments: [0, 8], [false, true])
    func `are found in a zip archive, packed or not, also in a large one's form`(method: Int, isLong: Bool) throws {
        let entries = [
            Entry(name: "a/", bytes: [], method: 0), Entry(name: "a/plain.txt", bytes: Self.plain, method: method),
            Entry(name: "a/key.txt", bytes: Self.key, method: method),
            Entry(name: "deep/.env", bytes: Self.plain, method: method),
        ]
        let expected = ["a/key.txt: a private key (PEM)", "deep/.env: settings that are secret by their name"]
        #expect(Self.findings(Self.found(try Self.zip(entries, isLong: isLong), .zip)) == expected)
        let program = [UInt8](repeating: 0x23, count: 999)
        #expect(Self.findings(Self.found(try Self.zip(entries, before: program, isLong: isLong), .zip)) == expected)
    }

    @Test func `are not looked for in what is encrypted or packed in another way, which is said`() throws {
        let encrypted = try Self.zip([Entry(name: "a", bytes: Self.key, flags: 1)])
        #expect(Self.findings(Self.found(encrypted, .zip)) == ["encrypted"])
        let other = try Self.zip([Entry(name: ".npmrc", bytes: Self.key, method: 93)])
        #expect(
            Self.findings(Self.found(other, .zip)) == [
                ".npmrc: settings that are secret by their name", "a compression other than deflate",
            ]
        )
    }

    @Test func `are told from lies about sizes, places and counts`() throws {
        let key = Entry(name: "key", bytes: Self.key)
        for entry in [
            Entry(name: "x", bytes: Self.plain, offset: 0xFFFF_0000), Entry(name: "x", bytes: Self.plain, offset: 7),
            Entry(name: "x", bytes: Self.plain, method: 0, size: 0xFFFF_FFF0),
        ] {
            let search = Self.found(try Self.zip([entry, key]), .zip)
            #expect(Self.findings(search) == ["key: a private key (PEM)", "damaged"])
        }
        #expect(
            Self.findings(Self.found(try Self.zip([key], count: 9), .zip)) == ["key: a private key (PEM)", "damaged"]
        )
        // The same contents under many names.
        let twice = (0..<50).map { Entry(name: "\($0)", bytes: Self.key, offset: 0) }
        #expect(Self.found(try Self.zip(twice), .zip).secrets.count == 20)
    }

    @Test func `end the search of an archive that unpacks to too much`() throws {
        let bounds = ArchiveSearch.Bounds(archive: 1 << 20, contents: 100_000, entries: 5, secrets: 20)
        let bomb = Entry(name: "bomb", bytes: [UInt8](repeating: 0, count: 1_000_000))
        let key = Entry(name: "key", bytes: Self.key)
        #expect(Self.findings(Self.found(try Self.zip([bomb, key]), .zip, bounds)) == ["too large"])
        #expect(Self.findings(Self.found(try Self.gzip(bomb.bytes), .gzip, bounds)) == ["too large"])
        #expect(
            Self.findings(Self.found(try Self.gzip(Self.block("bomb", bomb.bytes)), .gzip, bounds)) == ["too large"]
        )
        let many = (0..<9).map { Entry(name: "\($0)", bytes: []) }
        #expect(Self.findings(Self.found(try Self.zip(many), .zip, bounds)) == ["too large"])
        let names = (0..<9).flatMap { Self.block("\($0)", []) } + Self.end
        #expect(Self.findings(Self.found(names, .tar, bounds)) == ["too large"])
    }

    // MARK: Tar

    @Test(arguments: [false, true])
    func `are found in a tar archive by its names of each format`(isPacked: Bool) throws {
        let long = String(repeating: "long/", count: 40) + "key"
        let record = "path=\(long)\n"
        let archive =
            Self.block("a/", [], kind: "5") + Self.block("plain", Self.plain) + Self.block("key", Self.key)
            + Self.block("name", Self.key, prefix: "folder")
            + Self.block("././@LongLink", Array("\(long)\u{0}".utf8), kind: "L") + Self.block("short", Self.key)
            + Self.block("PaxHeaders/x", Array("\(record.utf8.count + 4) \(record)".utf8), kind: "x")
            + Self.block("short", Self.key) + Self.block("link", [], kind: "2") + Self.block("id_rsa", []) + Self.end
        let search =
            isPacked ? Self.found(try Self.gzip(archive), .gzip) : Self.found(archive, .tar)
        let shown = "\(long.prefix(80))…\(long.suffix(60))"
        #expect(
            search.secrets.map(\.entry) == ["key", "folder/name", shown, shown, "id_rsa"] && search.gap == nil
        )
    }

    @Test func `are found in a compressed file that is no archive, under its name`() throws {
        let search = Self.found(try Self.gzip(Self.key), .gzip, named: "backup.sql.gz")
        #expect(Self.findings(search) == ["backup.sql: a private key (PEM)"])
        #expect(Self.findings(Self.found(try Self.gzip(Self.plain), .gzip)) == [])
    }

    @Test func `have names that are printed on one line`() {
        #expect(ArchivedSecret(Array("a\nb".utf8), .settings).entry == "$'a\\x0ab'")
        #expect(ArchivedSecret([0xFF], .settings).entry == "\u{FFFD}")
    }

    @Test(arguments: [
        (".npmrc", true), ("a/.env", true), (".env.production", true), (".env.example", false), ("a/ID_RSA", true),
        ("id_rsa.pub", false), ("home/.aws/credentials", true), ("aws/credentials", false), ("environment", false),
        (".htpasswd", true), ("", false), ("/", false),
    ])
    func `are told by names of settings`(path: String, isSecret: Bool) {
        #expect(SettingsFileName.isSecret(path) == isSecret)
    }

    // MARK: Damage

    @Test func `end no search, wherever an archive breaks off`() throws {
        let entries = [Entry(name: "plain", bytes: Self.plain), Entry(name: "key", bytes: Self.key, method: 0)]
        let tar = Self.block("plain", Self.plain) + Self.block("key", Self.key) + Self.end
        for (format, archive) in [
            (ArchiveFormat.zip, try Self.zip(entries)), (.zip, try Self.zip(entries, isLong: true)),
            (.gzip, try Self.gzip(tar)),
        ] {
            for count in 0..<archive.count {
                let search = Self.found(Array(archive.prefix(count)), format)
                #expect(search.gap == .damaged || search.secrets.count == 1, "\(format) \(count)")
            }
        }
        for count in stride(from: 0, to: 1_536, by: 13) {
            #expect(Self.found(Array(tar.prefix(count)), .tar).gap == .damaged, "\(count)")
        }
    }

    @Test func `end no search, whichever bytes are others`() throws {
        var random = SeededGenerator(state: 35)
        let entries = [Entry(name: "plain", bytes: Self.plain), Entry(name: "key", bytes: Self.key, method: 0)]
        let tar = Self.block("plain", Self.plain) + Self.block("key", Self.key) + Self.end
        let archives: [(ArchiveFormat, [UInt8])] = [
            (.zip, try Self.zip(entries)), (.zip, try Self.zip(entries, isLong: true)), (.tar, tar),
            (.gzip, try Self.gzip(tar)),
        ]
        let bounds = ArchiveSearch.Bounds(archive: 1 << 20, contents: 1 << 20, entries: 100, secrets: 20)
        for _ in 0..<400 {
            for (format, archive) in archives {
                var bytes = archive
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: bytes.indices, using: &random)
                    bytes[place] =
                        [0, 0xFF, 0x80, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
                }
                #expect(Self.found(bytes, format, bounds).searched <= (1 << 20) + 200)
            }
        }
    }

    // MARK: A bundle

    @Test func `are one error with the archive and the path in it, unless they are allowed`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let script = """
            cd '\(bench.folder)/v1/web'; printf '%s' '\(Self.pem)' >key.txt; printf 'A=1' >.env; tar -czf all.tgz key.txt .env
            printf '%s' '\(Self.pem)' | gzip -c >note.txt.gz; head -c 60 all.tgz >short.tgz; rm key.txt .env
            """
        #expect(try await tool("sh", ["-c", script]).succeeded)
        let web = bench.folder.appending("v1/web")
        #expect(
            await bench.problem("v1")
                == .several([
                    .archived(web.appending("all.tgz"), ArchivedSecret(Array("key.txt".utf8), .privateKey(.pem))),
                    .archived(web.appending("all.tgz"), ArchivedSecret(Array(".env".utf8), .settings)),
                    .archived(web.appending("note.txt.gz"), ArchivedSecret(Array("note.txt".utf8), .privateKey(.pem))),
                ])
        )
        try bench.describe("v1", extra: #"allow-secrets: ["*.tgz", "note.txt.gz"]"#)
        #expect(try await bench.release("v1", to: "out").made.warnings.isEmpty)
    }

    @Test func `are looked for in what can be read of a damaged archive, with a warning`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.write("PK\u{3}\u{4} and no more", to: "v1/web/broken.jar")
        #expect(
            try await bench.release("v1", to: "out").made.warnings.map {
                "\($0)".replacing("\(bench.folder)/v1/", with: "")
            } == [
                "release.yaml:9: patches[2].folder: 1 archive was only partly searched for secrets: broken.jar (damaged); name those without secrets in `allow-secrets:`"
            ]
        )
    }

    @Test func `of an archive that is not packed are named once`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.write(
            String(decoding: Self.block("key.txt", Self.key) + Self.end, as: UTF8.self),
            to: "v1/web/all.tar"
        )
        let file = bench.folder.appending("v1/web/all.tar")
        #expect(
            await bench.problem("v1")
                == .archived(file, ArchivedSecret(Array("key.txt".utf8), .privateKey(.pem)))
        )
    }
}
