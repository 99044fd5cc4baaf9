import PatchDelta
import PatchFormat
import PatchCrypto
import Testing

@Suite("A pack from a base")
struct PackTests {
    /// How a bundler names its files.
    enum Naming: CaseIterable {
        case dot, dash, base64url, numericChunks, renamedFolder, stable

        func name(_ number: Int, _ version: Int) -> String {
            var numbers = SampleNumbers(number * 1_000 + version)
            let base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            return switch self {
            case .dot: "static/part\(number).\(numbers.text(20, of: "0123456789abcdef")).js"
            case .dash: "assets/part\(number)-\(numbers.text(8, of: "0123456789abcdef")).js"
            case .base64url: "js/c.\(numbers.text(8, of: base64)).js"
            case .numericChunks: "\(number * 37 + 100).\(numbers.text(16, of: "0123456789abcdef")).chunk.js"
            case .renamedFolder: "_app/build-\(numbers.text(10, of: base64))/part\(number).js"
            case .stable: "js/part\(number).js"
            }
        }

        /// Twenty scripts that import one another by name; version 2 has one line more in one of them.
        func bundle(_ version: Int) -> SampleBundle {
            var files = ["index.html": "<script src=\"\(name(0, version))\"></script>\n"]
            for number in 0..<20 {
                var numbers = SampleNumbers(number)
                let imports = (0..<20).filter { $0 != number && ($0 + number) % 3 == 0 }
                    .map { "import \"../\(name($0, version))\";\n" }
                let added = version == 2 && number == 7 ? "console.log(\"one line more\");\n" : ""
                files[name(number, version)] = imports.joined() + numbers.script(lines: 40) + added
            }
            return SampleBundle(files, version: "\(version).0.0")
        }
    }

    /// The new bundle is what comes of the pack, in whatever parts it comes.
    @discardableResult
    private func check(_ base: SampleBundle, _ new: SampleBundle, below limit: Int) throws -> PackSummary {
        let update = Update(base: base, new: new)
        let (bytes, summary) = try update.pack()
        let manifest = try new.manifest()
        for parts in [1, 1_000, bytes.count] where parts > 1 || bytes.count < 10_000 {
            let found = try update.applied(bytes, parts: parts)
            #expect(found.manifest == manifest)
            let contents = Set(found.contents.values.map { SHA256Digest(of: $0) })
            #expect(contents.isSuperset(of: Set(new.objects.keys).subtracting(base.objects.keys)))
        }
        #expect(summary.bytes == bytes.count)
        // What it says of itself: its head alone is enough.
        let head = BytesInMemory(Array(bytes.prefix(summary.headBytes)))
        #expect(try PackSummary(of: head, base: try PackManifest(try base.manifest()), limit: bytes.count) == summary)
        let short = BytesInMemory(Array(bytes.prefix(summary.headBytes - 1)))
        #expect(throws: PackError.incomplete) {
            try PackSummary(of: short, base: try PackManifest(try base.manifest()), limit: bytes.count)
        }
        #expect(bytes.count < limit)
        return summary
    }

    @Test(arguments: zip(Naming.allCases, [430, 300, 330, 360, 400, 160]))
    func `needs few bytes for one line, however files are named`(_ naming: Naming, limit: Int) throws {
        let summary = try check(naming.bundle(1), naming.bundle(2), below: limit)
        // Twenty scripts and the page change their names or what they name; one of them has a new line.
        #expect(summary.patched + summary.plain == 1)
        #expect(summary.same + summary.substituted == (naming == .stable ? 0 : 20))
        #expect(summary.files == (naming == .stable ? 1 : 21))
        if naming == .stable { #expect(summary.words == "1 patched") }
    }

    @Test func `of a bundle that did not change has a head alone`() throws {
        let bundle = Naming.dot.bundle(1)
        let summary = try check(bundle, bundle, below: 40)
        #expect(summary.groups == 0 && summary.headBytes == summary.bytes)
    }

    @Test func `carries a new header, and members that do not follow from a path`() throws {
        var new = Naming.dot.bundle(1)
        new.version = "1.0.1"
        new.cacheable = Set(new.files.keys.filter { $0.hasSuffix(".js") })
        try check(Naming.dot.bundle(1), new, below: 150)
    }

    @Test func `brings files that are binary, empty, twice there, added and removed`() throws {
        var numbers = SampleNumbers(1)
        let (picture, font, sound) = (numbers.bytes(20_000), numbers.bytes(3_000), numbers.bytes(4_000))
        let base = SampleBundle([
            "index.html": Array("<html></html>".utf8), "a/picture.png": picture, "a/gone.txt": Array("gone".utf8),
            "empty.txt": [], "moved/sound.ogg": sound, "app.js": Array("go()".utf8), "app.js.map": Array("{}".utf8),
        ])
        let new = SampleBundle(
            [
                "index.html": Array("<html> </html>".utf8),
                "a/picture.png": picture[..<10_000] + [1, 2, 3] + picture[10_000...],
                "a/font.woff": font, "b/font.woff": font, "b/empty.css": [], "b/other.css": [], "é/sound.ogg": sound,
                "app.js": Array("go()".utf8),
            ],
            version: "2.0.0"
        )
        let summary = try check(base, new, below: 3_500)
        #expect(summary.same == 3 && summary.patched + summary.plain == 4)
        try check(new, base, below: 600)
    }

    @Test func `from an empty bundle, and to one, is whole`() throws {
        let small = SampleBundle(["index.html": "<html></html>"])
        try check(SampleBundle(["old.bin": "x"]), small, below: 200)
        try check(small, SampleBundle(["old.bin": "x"]), below: 200)
    }

    @Test func `passes a file through that is larger than may be held`() throws {
        var numbers = SampleNumbers(2)
        let block = numbers.bytes(4_096)
        let large = Array((0..<4_100).map { _ in block }.joined())
        let base = SampleBundle(["index.html": Array("a".utf8), "movie.mp4": large])
        let new = SampleBundle(
            ["index.html": Array("b".utf8), "movie.mp4": large + [1], "z.txt": Array("z".utf8)],
            version: "2.0.0"
        )
        let update = Update(base: base, new: new)
        let (bytes, summary) = try update.pack(effort: .quick)
        #expect(bytes.count < 20_000 && summary.groups == 3 && summary.plain >= 1)
        #expect(try update.applied(bytes, parts: 1_000).manifest == (try new.manifest()))
    }

    @Test func `has groups of bounded size`() throws {
        var files: [String: [UInt8]] = [:]
        for number in 0..<3 {
            var numbers = SampleNumbers(number)
            let block = numbers.bytes(1_000)
            files["\(number).bin"] = Array((0..<6_000).map { _ in block }.joined())
        }
        let base = SampleBundle(files)
        let new = SampleBundle(files.mapValues { $0 + [7] }, version: "2.0.0")
        let update = Update(base: base, new: new)
        let (bytes, summary) = try update.pack(effort: .quick)
        #expect(summary.groups == 2 && summary.patched == 3)
        #expect(try update.applied(bytes).manifest == (try new.manifest()))
    }

    @Test func `is not made of a manifest that a reader would write in other bytes`() throws {
        let bundle = SampleBundle(["index.html": "x"])
        let spaced = Array((String(decoding: try bundle.manifest(), as: UTF8.self) + "\n").utf8)
        #expect(throws: PackError.otherForm) {
            try PackMaker(
                base: try PackManifest(try bundle.manifest()),
                new: try PackManifest(spaced),
                manifest: SHA256Digest(of: spaced),
                objects: Update.objects([:])
            )
        }
    }

    @Test func `is not made where a content is missing or is another`() throws {
        let (base, new) = (SampleBundle(["a.js": "old"]), SampleBundle(["a.js": "new"], version: "2.0.0"))
        let digest = SHA256Digest(of: Array("new".utf8))
        for content in [nil, Array("NEW".utf8), Array("newer".utf8)] as [[UInt8]?] {
            let maker = try PackMaker(
                base: try PackManifest(try base.manifest()),
                new: try PackManifest(try new.manifest()),
                manifest: SHA256Digest(of: try new.manifest()),
                objects: PackObjects {
                    $0 == digest ? content.map { BytesInMemory($0) } : BytesInMemory(Array("old".utf8))
                }
            )
            #expect(throws: PackError.object(digest)) { try maker.make { _ in } }
        }
    }
}

extension PackTests {
    @Test func `refers once to what several rows are made of`() throws {
        var numbers = SampleNumbers(3)
        let text = numbers.script(lines: 100)
        let base = SampleBundle(["one.js": text, "two.js": numbers.script(lines: 20)])
        let new = SampleBundle(
            ["one.js": text + "//", "other.js": "//" + text, "third.js": text + text, "two.js": ""],
            version: "2.0.0"
        )
        for effort in PackMaker.Effort.allCases {
            let update = Update(base: base, new: new)
            let (bytes, summary) = try update.pack(effort: effort)
            #expect(summary.groups == 1 && bytes.count < 200)
            #expect(try update.applied(bytes).manifest == (try new.manifest()))
        }
    }

    @Test func `does without a reference that the tokens make too large`() throws {
        let (short, long) = ("aaaa", String(repeating: "b", count: 180))
        let text = Array(repeating: Array("\(short) ".utf8), count: 200_000).flatMap { $0 }
        let base = SampleBundle([
            "0.bin": [0], "a.bin": text, "b.bin": Array("b".utf8), "x.\(short).js": Array("x()".utf8),
        ])
        let new = SampleBundle(
            ["0.bin": [0, 0], "a.bin": text + [1], "b.bin": Array("b2".utf8), "x.\(long).js": Array("x()".utf8)],
            version: "2.0.0"
        )
        let update = Update(base: base, new: new)
        let (bytes, summary) = try update.pack(effort: .quick)
        #expect(summary.plain == 1 && summary.patched == 2 && summary.same == 1)
        #expect(try update.applied(bytes).manifest == (try new.manifest()))
    }
}
