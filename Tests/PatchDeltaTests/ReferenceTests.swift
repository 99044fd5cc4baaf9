import PatchFormat
import PatchTrust
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
