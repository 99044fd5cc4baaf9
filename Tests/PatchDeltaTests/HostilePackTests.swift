import PatchCompression
import PatchFormat
import PatchCrypto
import Testing

@testable import PatchDelta

@Suite("A pack that is not what it should be")
struct HostilePackTests {
    private static let update: Update = {
        let old = PackTests.Naming.dash.bundle(1).files
        let new = PackTests.Naming.dash.bundle(2).files
        // One that is patched, one made of tokens, a new one and one under another name.
        let names = (0...7).map { (PackTests.Naming.dash.name($0, 1), PackTests.Naming.dash.name($0, 2)) }
        var (before, after) = (["a.txt": Array("text".utf8)], ["b.txt": Array("text".utf8), "new.txt": [1, 2, 3]])
        for (former, latter) in names where old[former] != nil {
            before[former] = old[former]
            after[latter] = new[latter]
        }
        return Update(base: SampleBundle(before), new: SampleBundle(after, version: "2.0.0"))
    }()

    /// Whether a pack is taken; what it makes is what was asked for then, and each content is its row's.
    private func isTaken(_ pack: [UInt8]) throws -> Bool {
        let (update, found): (Update, (manifest: [UInt8], contents: [Int: [UInt8]]))
        do { (update, found) = (Self.update, try Self.update.applied(pack)) } catch is PackError { return false }
        #expect(found.manifest == (try update.new.manifest()))
        let files = update.new.files.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
        for (row, content) in found.contents { #expect(content == files[row]) }
        let made = Set(found.contents.values).union(update.base.files.values)
        #expect(made.isSuperset(of: files))
        return true
    }

    @Test func `is refused when it ends early, wherever that is`() throws {
        let pack = try Self.update.pack().bytes
        for count in 0..<pack.count {
            #expect(throws: PackError.incomplete, "after \(count) bytes") {
                try Self.update.applied(Array(pack[..<count]))
            }
        }
    }

    @Test(arguments: [0x01, 0x80, 0xFF] as [UInt8])
    func `is refused or makes what was asked for, whichever byte is another`(_ change: UInt8) throws {
        let pack = try Self.update.pack().bytes
        #expect(try isTaken(pack))
        var taken: [Int] = []
        for place in pack.indices {
            var damaged = pack
            damaged[place] ^= change
            if try isTaken(damaged) { taken.append(place) }
        }
        // Some bits of zstd's have no meaning; all outside of its frames do.
        var input = PackInput()
        input.append(pack)
        let head = try #require(try input.beginning(1 << 20)).length
        #expect(taken.allSatisfy { $0 >= pack.count - input.count } && head < input.count)
        #expect(taken.count < 10)
    }

    @Test func `is refused with bytes behind its end`() throws {
        let pack = try Self.update.pack().bytes
        #expect(throws: PackError.trailing) { try Self.update.applied(pack + [0]) }
        #expect(throws: PackError.trailing) { try Self.update.applied(pack + [0], parts: pack.count) }
    }

    @Test func `is refused with bytes behind its end before its manifest is made`() throws {
        var reader = PackReader(
            base: try PackManifest(try Self.update.base.manifest()),
            manifest: SHA256Digest(of: try Self.update.new.manifest()),
            objects: Update.objects(Self.update.base.objects),
            limits: .init(pack: 1 << 20, contents: 1 << 30)
        )
        reader.feed(try Self.update.pack().bytes)
        while try reader.next() != nil {}
        reader.feed([0])
        do throws(PackError) {
            _ = try reader.next()
            Issue.record("it was taken")
        } catch { #expect(error == .trailing) }
    }

    /// A damaged frame says little about what is in it: here each byte of the head is another before it becomes a frame.
    @Test(arguments: [0x01, 0x02, 0x80] as [UInt8])
    func `is refused or makes what was asked for, whatever its head says`(_ change: UInt8) throws {
        let pack = try Self.update.pack().bytes
        let base = try PackManifest(try Self.update.base.manifest())
        let (frame, groups) = try head(of: pack)
        let size = try #require(ZstandardFrame(frame)?.contentSize)
        let text = try ZstandardPatch.content(of: frame, prefix: base.names.text, size: size)
        var taken: [Int] = []
        for place in text.indices {
            var other = text
            other[place] ^= change
            // A frame that refers to nothing comes out alike with any prefix.
            let frame = try ZstandardPatch.frame(of: other, prefix: [], level: 19)
            var hostile = PackHead.name + [1]
            hostile.append(number: frame.count)
            if try isTaken(hostile + frame + groups) { taken.append(place) }
        }
        let head = try PackHead(text: text, version: .zstandard, base: base)
        let kinds = head.names.text.count + 1 + head.exceptions.count
        let same = head.exceptions.indices.filter { head.exceptions[$0].kind == .same }
        // The content of one row is the same whether tokens are put in or not.
        #expect(taken == (change == 1 ? same.map { kinds + $0 } : []))
    }

    @Test func `is refused in another version, and where it is none`() throws {
        for bytes in [Array("PLP".utf8) + [3, 1, 1], Array("GIF89a".utf8), [0]] {
            #expect(throws: PackError.otherFormat) { try Self.update.applied(bytes) }
        }
        #expect(throws: PackError.head(.number)) {
            try Self.update.applied(PackHead.name + [1] + [UInt8](repeating: 0x80, count: 8))
        }
        #expect(throws: PackError.head(.size)) {
            try Self.update.applied(
                PackHead.name + [1] + [0xFF, 0xFF, 0xFF, 0x7F],
                limits: .init(pack: 1 << 40, contents: 1)
            )
        }
    }

    @Test func `is refused where its head is larger than the manifest that it says it makes`() throws {
        let (pack, update) = (try Self.update.pack().bytes, Self.update)
        let (base, new) = (try PackManifest(try update.base.manifest()), try update.new.manifest())
        let text = try PackHead(frame: try head(of: pack).frame, version: .zstandard, base: base).text(base: base).count
        for (size, error) in [(new.count, nil), (text, nil), (text - 1, PackError.head(.size))] {
            var reader = PackReader(
                base: base,
                manifest: SHA256Digest(of: new),
                size: size,
                objects: Update.objects(update.base.objects),
                limits: .init(pack: 1 << 20, contents: 1 << 30)
            )
            // Eighteen bytes of it say so.
            reader.feed(error == nil ? pack : Array(pack.prefix(24)))
            do throws(PackError) {
                while try reader.next() != nil {}
                #expect(try reader.finish() == new)
            } catch let found { #expect(found == error) }
        }
    }

    private func head(of pack: [UInt8]) throws -> (frame: [UInt8], groups: [UInt8]) {
        var input = PackInput()
        input.append(pack)
        let length = try input.beginning(1 << 20)?.length ?? 0
        return (input.take(length) ?? [], input.take(input.count) ?? [])
    }

    @Test func `is refused on another base`() throws {
        let pack = try Self.update.pack().bytes
        let asked = SHA256Digest(of: try Self.update.new.manifest())
        var base = Self.update.base
        base.version = "1.0.1"
        #expect(throws: PackError.self) { try Update.applied(pack, base, asked: asked) }
        #expect(throws: PackError.self) { try Update.applied(pack, SampleBundle(["x": "y"]), asked: asked) }
    }

    @Test func `is refused where another manifest was asked for`() throws {
        let pack = try Self.update.pack().bytes
        let (found, asked) = (SHA256Digest(of: try Self.update.new.manifest()), SHA256Digest(of: []))
        #expect(throws: PackError.otherManifest(found, asked: asked)) {
            try Update.applied(pack, Self.update.base, asked: asked)
        }
    }

    @Test func `is refused over the bytes that it may have, or that may come out of it`() throws {
        let (pack, update) = (try Self.update.pack().bytes, Self.update)
        #expect(throws: PackError.tooLong(limit: pack.count - 1)) {
            try update.applied(pack, parts: 8, limits: .init(pack: pack.count - 1, contents: 1 << 30))
        }
        _ = try update.applied(pack, limits: .init(pack: pack.count, contents: 1 << 30))
        #expect(throws: PackError.tooLong(limit: pack.count)) {
            try update.applied(pack + [0], limits: .init(pack: pack.count, contents: 1 << 30))
        }
        // Its head says so, before the groups come.
        #expect(throws: PackError.tooLong(limit: pack.count - 1)) {
            try update.applied(Array(pack.dropLast(100)), limits: .init(pack: pack.count - 1, contents: 1 << 30))
        }
    }

    /// Rows that refer to `a` and `b`, 400 and 100 bytes: `a` to be made longer by tokens, both before two groups.
    @Test func `is refused over the bytes that it may read and make, and says how many they were`() throws {
        let base = SampleBundle([
            "a.abcd.js": String(repeating: "abcd", count: 100), "b": String(repeating: "b", count: 100),
        ])
        let manifest = try PackManifest(try base.manifest())
        let names = try PackManifest(
            try SampleBundle(["a.abcdefgh.js": "", "c": "", "d": "", "e": "", "f": ""]).manifest()
        )
        let frame = try ZstandardPatch.frame(of: [1, 2, 3, 4], prefix: [], level: 19)
        func row(_ row: Int, _ kind: PackHead.Kind, _ reference: Int?, size: Int = 0) -> PackHead.ExceptionalRow {
            .init(row: row, kind: kind, reference: reference, givesTokens: row == 0, size: size)
        }
        let head = PackHead(
            names: names.names,
            exceptions: [
                row(0, .substituted, 0), row(1, .patched, 0, size: 2), row(2, .patched, 0, size: 2),
                row(3, .patched, 1, size: 4), row(4, .plain, nil, size: 4),
            ],
            groups: [
                .init(rows: 2, length: frame.count, isPlain: false),
                .init(rows: 1, length: frame.count, isPlain: false),
                .init(rows: 1, length: frame.count, isPlain: true),
            ]
        )
        let pack = try head.bytes(base: manifest, level: 19) + frame + frame + frame
        func refusal(_ limit: Int) throws -> PackError? {
            do {
                let limits = PackReader.Bounds(pack: 1 << 20, contents: limit)
                _ = try Update.applied(pack, base, asked: SHA256Digest(of: []), limits: limits)
                return nil
            } catch let error as PackError { return error }
        }
        // Known of the head: `a` for the row 0 and for the first group, `b` for the second, three contents of 4 bytes.
        let known = 400 + 400 + 100 + 3 * 4
        // Then what comes of it: `a` with longer tokens as a content and as a prefix, and `b` as a prefix.
        let steps = [known, known + 800, known + 800 + 800, known + 800 + 800 + 100]
        for (step, limit) in zip(steps, [0] + steps) {
            for limit in [limit, step - 1] {
                #expect(try refusal(limit) == .tooMuch(step, limit: limit))
            }
        }
        let found = try #require(try refusal(known + 1_700))
        guard case .otherManifest = found else { throw found }
    }

    @Test func `is refused where a content of the base is missing or is another`() throws {
        let pack = try Self.update.pack().bytes
        for content in [nil, Array("another".utf8)] as [[UInt8]?] {
            var reader = PackReader(
                base: try PackManifest(try Self.update.base.manifest()),
                manifest: SHA256Digest(of: try Self.update.new.manifest()),
                objects: PackObjects { _ in content.map { BytesInMemory($0) } },
                limits: .init(pack: 1 << 20, contents: 1 << 30)
            )
            reader.feed(pack)
            do throws(PackError) {
                _ = try reader.next()
                Issue.record("it was taken")
            } catch { guard case .object = error else { throw error } }
        }
    }

    /// A pack whose one row is made of `a`, with tokens that make it longer, or a prefix of it.
    private func growing(_ kind: PackHead.Kind) throws -> (pack: [UInt8], base: SampleBundle) {
        let letters = String(repeating: "abcd", count: 100_000)
        let base = SampleBundle(["a.abcd.js": letters])
        let manifest = try PackManifest(try base.manifest())
        let name = "a." + String(repeating: "b", count: 200) + ".js"
        let new = try PackManifest(try SampleBundle([name: "x"]).manifest())
        let size = kind == .patched ? 1 : 0
        let exception = PackHead.ExceptionalRow(row: 0, kind: kind, reference: 0, givesTokens: true, size: size)
        let frame = try ZstandardPatch.frame(of: [1], prefix: [], level: 19)
        let groups = kind == .patched ? [PackHead.Group(rows: 1, length: frame.count, isPlain: false)] : []
        let head = PackHead(names: new.names, exceptions: [exception], groups: groups)
        return (try head.bytes(base: manifest, level: 19) + (kind == .patched ? frame : []), base)
    }

    @Test func `is refused where tokens make a content or a prefix too large`() throws {
        let asked = SHA256Digest(of: [])
        let (substituted, base) = try growing(.substituted)
        let path = try AssetPath("a." + String(repeating: "b", count: 200) + ".js")
        #expect(throws: PackError.rowTooLarge(path, limit: PackLimits.held)) {
            try Update.applied(substituted, base, asked: asked)
        }
        #expect(throws: PackError.prefixTooLarge(group: 0, limit: PackLimits.held)) {
            try Update.applied(try growing(.patched).pack, base, asked: asked)
        }
    }

    @Test func `says what is wrong with it`() {
        let (one, other) = (SHA256Digest(of: [1]), SHA256Digest(of: [2]))
        let damage = CompressionError.incomplete(.zstandard)
        let texts: [(PackError, String)] = [
            (.otherFormat, "it does not begin with PLP and a known version"),
            (.compression(.head, damage), "its head: the zstd stream ends early"),
            (.compression(.group(3), damage), "its group 3: the zstd stream ends early"),
            (.malformed(FormatError("header", rule: "is not JSON")), "its head: header is not JSON"),
            (.tooLong(limit: 9), "it has more than 9 bytes"),
            (.tooMuch(8, limit: 7), "it reads and writes 8 bytes; the limit is 7"),
            (.prefixTooLarge(group: 2, limit: 5), "its group 2 refers to more than 5 bytes"),
            (.incomplete, "it ends early"), (.trailing, "bytes follow its end"),
            (.object(one), "the content \(one) is missing or has the wrong size"),
            (
                .otherManifest(one, asked: other),
                "it makes the manifest \(one) instead of \(other): its base is another one, or it is damaged"
            ), (.otherForm, "the manifest is not in the form in which a pack's reader writes it"),
            (.signatures(.length), "its signatures do not have the length that the new rows need"),
            (.signatures(.column), "its signatures do not make the requested column"),
        ]
        for (error, text) in texts { #expect("\(error)" == text) }
        let path = try? AssetPath("a.js")
        #expect(path.map { "\(PackError.rowTooLarge($0, limit: 4))" } == "a.js becomes more than 4 bytes")
        let rules = [
            "does not declare its size, or is longer than its limit",
            "has a number that is cut off, too long, or too large", "has no manifest header",
            "has more than 100,000 rows", "has a row that is not a path, or a path and other members",
            "has rows that are not in order", "has more exceptional rows than rows", "names a row that does not exist",
            "has an unknown kind of row",
            "names a base row that does not exist or is not needed, or lacks a required one",
            "has a content over 4,000,000,000 bytes, or a reference over 16,777,216",
            "has more than 100,000 tokens", "omits a row that the base does not have",
            "has a wrong number of groups for its rows",
            "has a group whose sizes exceed its limits", "has bytes after its end",
        ]
        #expect(PackError.HeadRule.allCases.map { "\(PackError.head($0))" } == rules.map { "its head \($0)" })
    }
}
