import PatchFormat
import PatchCrypto
import Testing

@testable import PatchDelta

@Suite("The choice of a reference")
struct ReferenceTests {
    private static let texts: [String] = (0..<6).map { seed in
        var numbers = SampleNumbers(seed)
        return numbers.script(lines: 60)
    }

    /// What `path` with this content is made from.
    private func reference(_ path: String, _ content: String, base: [String: String]) throws -> String? {
        let old = SampleBundle(base)
        let (base, objects) = (try PackManifest(try old.manifest()), old.objects)
        let new = try PackManifest(try SampleBundle([path: content]).manifest())
        var choice = ReferenceChoice(base: base, new: new) { (row) throws(PackError) in
            objects[base.fingerprints[row].sha256] ?? []
        }
        return try choice.reference(for: try AssetPath(path), Array(content.utf8)).map { base.path(of: $0.row).text }
    }

    private let base = ["a.1111.js": texts[0], "b.2222.js": texts[1], "c/d.3333.js": texts[2], "e.css": texts[3]]

    @Test func `is the same path where it is close`() throws {
        #expect(try reference("b.2222.js", Self.texts[1] + "more", base: base) == "b.2222.js")
    }

    @Test func `is the content that is most like it, whatever its name`() throws {
        #expect(try reference("b.9999.js", Self.texts[0] + "more", base: base) == "a.1111.js")
        #expect(try reference("b.2222.js", Self.texts[2] + "more", base: base) == "c/d.3333.js")
    }

    @Test func `is a content with the same ending`() throws {
        #expect(try reference("e.9999.js", Self.texts[3] + "more", base: base) == nil)
    }

    @Test func `is a file with the same stem where no content is like it`() throws {
        #expect(try reference("a.9999.js", Self.texts[5], base: base) == "a.1111.js")
        #expect(try reference("c/d.9999.js", Self.texts[5], base: base) == "c/d.3333.js")
        #expect(try reference("x.9999.js", Self.texts[5], base: base) == nil)
    }

    @Test func `is the nearest in size of those with the same stem, the first of two that are as near`() throws {
        let base = Dictionary(
            uniqueKeysWithValues: [("d", 10), ("b", 12), ("c", 12), ("a", 15), ("e", 15)].map {
                ("page-\($0).js", String(repeating: "z", count: $1))
            }
        )
        for (size, found) in [(1, "d"), (10, "d"), (11, "b"), (12, "b"), (13, "b"), (14, "a"), (15, "a"), (99, "a")] {
            // Sixteen equal bytes are one piece, which the base does not have.
            let content = String(repeating: "y", count: size)
            #expect(try reference("page-x.js", content, base: base) == "page-\(found).js", "\(size)")
        }
    }

    @Test func `gives tokens of a name that is gone, and of the closest pair where there are several`() throws {
        let old = SampleBundle([
            "a.1111aaaa.js": Self.texts[0], "b.2222bbbb.js": Self.texts[1], "stays.3333cccc.js": Self.texts[2],
        ])
        let new = SampleBundle(
            [
                "a.4444dddd.js": Self.texts[0] + Self.texts[3], "a.5555eeee.js": Self.texts[0] + "more",
                "b.6666ffff.js": Self.texts[1], "stays.3333cccc.js": Self.texts[2],
                "x.7777abab.js": Self.texts[2] + "x",
            ],
            version: "2.0.0"
        )
        let plan = try PackPlan(
            base: try PackManifest(try old.manifest()),
            new: try PackManifest(try new.manifest()),
            objects: Update.objects(old.objects.merging(new.objects) { first, _ in first })
        )
        #expect(plan.rows.map(\.reference) == [0, 0, 1, 2])
        #expect(plan.rows.map(\.isSame) == [false, false, true, false])
        #expect(plan.rows.map(\.givesTokens) == [false, true, true, false])
        let text = Array("1111aaaa 2222bbbb 3333cccc".utf8)
        #expect(TokenSearch(plan.tokens).put(into: text, limit: 100) == Array("5555eeee 6666ffff 3333cccc".utf8))
    }

    @Test func `knows a part of a text wherever it stands, and holds few pieces of a large one`() {
        let text = Array(Self.texts.joined().utf8)
        let sketch = Sketch(of: text)
        #expect(Sketch(of: Array("before".utf8) + text + text).likeness(to: sketch) > 0.9)
        #expect(Sketch(of: Array(Self.texts[5].utf8)).likeness(to: Sketch(of: Array(Self.texts[0].utf8))) < 0.01)
        var numbers = SampleNumbers(9)
        #expect(Sketch(of: numbers.bytes(400_000)).hashes.count == Sketch.most)
        #expect(Sketch(of: Array("short".utf8)).hashes.isEmpty)
    }
}
