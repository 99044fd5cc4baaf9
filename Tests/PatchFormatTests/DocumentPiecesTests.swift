import PatchFormat
import PatchTesting
import Testing

/// Bytes in pieces of these sizes, over and over.
final class Pieces: ByteSource {
    private var rest: ArraySlice<UInt8>
    private var sizes: [Int]

    init(_ bytes: [UInt8], sizes: [Int]) {
        rest = bytes[...]
        self.sizes = sizes
    }

    var isAtEnd: Bool { rest.isEmpty }

    func next() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        let size = sizes.removeFirst()
        sizes.append(size)
        defer { rest = rest.dropFirst(size) }
        return Array(rest.prefix(size))
    }

    /// One byte at a time, which is every boundary there is, and some that leave words whole.
    static let cuts = [[1], [2], [3, 1], [7, 2, 5], [64, 1], [1_000]]
}

@Suite("A document that comes in pieces")
struct DocumentPiecesTests {
    /// Every document of the vectors, good and bad.
    static let documents: [String] =
        ["json-refused", "canonical-json", "manifest", "patch-list", "tuf", "store", "dial", "release"].flatMap {
            folder in
            Vectors.names(in: folder, ending: ".json").map { "\(folder)/\($0).json" }
        }

    private func result(_ read: () throws(JSONError) -> JSON) -> Result<JSON, JSONError> {
        Result { () throws(JSONError) in try read() }
    }

    @Test(arguments: documents)
    func `is the same document, or refused for the same rule at the same place`(_ name: String) throws {
        let bytes = try Vectors.bytes(name)
        let whole = result { () throws(JSONError) in try JSON(parsing: bytes) }
        for sizes in Pieces.cuts {
            let pieces = Pieces(bytes, sizes: sizes)
            #expect(result { () throws(JSONError) in try JSON(parsing: pieces) } == whole, "\(sizes)")
            #expect(pieces.isAtEnd, "\(sizes)")
        }
    }

    @Test(arguments: ["é", "€", "😀", "a\u{301}\u{1F1EB}\u{1F1F7}"])
    func `may be cut within a character`(_ text: String) throws {
        for sizes in Pieces.cuts {
            #expect(try JSON(parsing: Pieces(Array("[\"\(text)\"]".utf8), sizes: sizes)) == .array([.text(text)]))
        }
    }

    @Test(
        arguments: [
            [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0x80], [0xC0, 0xAF], [0xED, 0xA0, 0x80],
            [0xF4, 0x90, 0x80, 0x80],
        ] as [[UInt8]]
    )
    func `is no UTF-8 wherever it is cut, and whatever else is wrong before`(_ bytes: [UInt8]) {
        for start in ["[\"", "[1.5,\"", "}\""] {
            for end in ["\"]", ""] {
                for sizes in Pieces.cuts {
                    let document = Array(start.utf8) + bytes + Array(end.utf8)
                    #expect(throws: JSONError(.notUTF8, at: 0)) { try JSON(parsing: Pieces(document, sizes: sizes)) }
                }
            }
        }
    }

    @Test func `hands the rows of one array over and holds an empty one in its place`() throws {
        let text = #"{"a":{"rows":[1]},"rows":[{"rows":[2]},[],null],"z":[3]}"#
        for sizes in Pieces.cuts {
            var rows: [JSON] = []
            let rest = try JSON(
                parsing: Pieces(Array(text.utf8), sizes: sizes),
                rows: JSONRows(of: "rows") { rows.append($0) }
            )
            #expect(rows == [.fields([("rows", .array([.integer(2)]))]), .array([]), .null])
            #expect(rest == (try JSON(parsing: Array(#"{"a":{"rows":[1]},"rows":[],"z":[3]}"#.utf8))))
        }
    }

    @Test func `hands over no rows of what is not an array`() throws {
        for text in [#"{"rows":{"rows":[1]}}"#, #"[{"rows":[1]}]"#, #"{"rows":"[1]"}"#] {
            let rows = JSONRows(of: "rows") { Issue.record("\($0) in \(text)") }
            let read = try JSON(parsing: Pieces(Array(text.utf8), sizes: [1]), rows: rows)
            #expect(read == (try JSON(parsing: Array(text.utf8))))
        }
    }

    @Test func `counts the depth of rows as of any other array`() throws {
        func rows(_ depth: Int) -> Pieces {
            Pieces(Array(("{\"rows\":" + "[".times(depth) + "]".times(depth) + "}").utf8), sizes: [5])
        }
        #expect(throws: Never.self) { try JSON(parsing: rows(63), rows: JSONRows(of: "rows") { _ in }) }
        #expect(throws: JSONError(.depth, at: 71)) { try JSON(parsing: rows(64), rows: JSONRows(of: "rows") { _ in }) }
    }
}

@Suite("A manifest that comes in pieces")
struct ManifestPiecesTests {
    private func result(_ read: () throws(FormatError) -> AssetManifest) -> Result<AssetManifest, FormatError> {
        Result { () throws(FormatError) in try read() }
    }

    /// The sample, and the sample with one byte of each place in it replaced.
    @Test func `is the same manifest, or refused for the same reason`() throws {
        let sample = try Vectors.bytes("manifest/manifest.json")
        var accepted = 0
        for place in stride(from: 0, to: sample.count, by: 3) {
            var bytes = sample
            bytes[place] = [UInt8(ascii: "\""), UInt8(ascii: "0"), UInt8(ascii: "]"), 0xFF][place / 3 % 4]
            let whole = result { () throws(FormatError) in try AssetManifest(bytes) }
            if case .success = whole { accepted += 1 }
            for sizes in [[1], [7, 2, 5]] {
                let pieces = Pieces(bytes, sizes: sizes)
                #expect(result { () throws(FormatError) in try AssetManifest(from: pieces) } == whole, "byte \(place)")
            }
        }
        #expect(accepted > 0)
    }

    @Test func `is refused for its format first, then for the first broken row, wherever rows stand`() throws {
        let sample = try Vectors.json("manifest/manifest.json")
        var broken = sample.object ?? JSONObject()
        broken["assets"] = .array([.null, .integer(1)])
        #expect(throws: FormatError("manifest", field: "assets[0]", rule: "must be an object")) {
            try AssetManifest(from: Pieces(JSON.object(broken).fileBytes, sizes: [9]))
        }
        broken["format"] = .text("another")
        #expect(throws: FormatError("manifest", field: "format", rule: "must be patchline-manifest-v1")) {
            try AssetManifest(from: Pieces(JSON.object(broken).fileBytes, sizes: [9]))
        }
        broken["assets"] = .text("none")
        broken["format"] = .text(AssetManifest.format)
        #expect(throws: FormatError("manifest", field: "assets", rule: "must be an array")) {
            try AssetManifest(from: Pieces(JSON.object(broken).fileBytes, sizes: [9]))
        }
    }
}
