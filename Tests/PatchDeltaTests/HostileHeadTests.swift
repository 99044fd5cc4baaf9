import PatchCompression
import PatchFormat
import PatchCrypto
import Testing

@testable import PatchDelta

@Suite("The head of a hostile pack")
struct HostileHeadTests {
    /// The header `{}` and the rows a, b and c; of the base, a and b are the same.
    private static let text: [UInt8] = [2] + Array("{}".utf8) + [3] + Array("a\nb\nc\n".utf8)

    /// Rows a and b; b is larger than may be held.
    private static func base() throws -> PackManifest {
        var json = try JSON(parsing: try SampleBundle(["a": "one", "b": "two"]).manifest())
        guard case .object(var manifest) = json, case .array(var rows) = manifest["assets"],
            case .object(var row) = rows[1]
        else { throw PackError.otherForm }
        row["size"] = .integer(PackLimits.held + 1)
        rows[1] = .object(row)
        manifest["assets"] = .array(rows)
        json = .object(manifest)
        return try PackManifest(json.fileBytes)
    }

    private static let largest: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]
    /// 2^25 as a size, and twice that as a difference from 0.
    private static let large: [UInt8] = [0x80, 0x80, 0x80, 0x20]

    private static let rules: [(rule: PackError.HeadRule, what: String, head: [UInt8])] = [
        (.number, "cut off", [0x80]),
        (.number, "with zeros in front", [0x82, 0x00] + text[1...] + [1, 2, 8, 3, 0]),
        (.number, "over 2^53 − 1", [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F]),
        (.number, "of nine bytes", [UInt8](repeating: 0x80, count: 8) + [1]),
        (.header, "longer than the head", [3] + Array("{}".utf8)),
        (.header, "longer than anything", largest),
        (.header, "with rows of its own", [13] + Array("{\"assets\":[]}".utf8) + [0, 0, 0]),
        (.rowCount, "of 100,001 rows", [2] + Array("{}".utf8) + [0xA1, 0x8D, 0x06]),
        (.rowLine, "no end", [2] + Array("{}".utf8) + [1] + Array("a".utf8)),
        (.rowLine, "a path that leaves its folder", [2] + Array("{}".utf8) + [1] + Array("../a\n".utf8)),
        (.rowLine, "no UTF-8", [2] + Array("{}".utf8) + [1, 0xFF, 0x0A]),
        (.rowLine, "members that are none", [2] + Array("{}".utf8) + [1] + Array("a\t[]\n".utf8)),
        (.rowLine, "a size that is not worked out", [2] + Array("{}".utf8) + [1] + Array("a\t{\"size\":1}\n".utf8)),
        (.rowOrder, "a row twice", [2] + Array("{}".utf8) + [2] + Array("a\na\n".utf8)),
        (.exceptionCount, "more than rows", text + [4]),
        (.exceptionPlace, "behind the last row", text + [1, 3]),
        (.exceptionPlace, "behind the last row, after another", text + [2, 1, 1]),
        (.kind, "a bit that means nothing", text + [1, 2, 16]),
        (.reference, "none, for the same content", text + [1, 2, 0]),
        (.reference, "none, with tokens", text + [1, 2, 7]),
        (.reference, "one for nothing", text + [1, 2, 11, 0]),
        (.reference, "behind the last row", text + [1, 2, 8, 0]),
        (.reference, "before the first row", text + [1, 2, 8, 5]),
        (.contentSize, "below nothing", text + [1, 2, 2, 1]),
        (.contentSize, "over the limit", text + [1, 2, 2] + largest),
        (.contentSize, "of a reference", text + [1, 2, 9, 1]),
        (.contentSize, "of a prefix", text + [1, 2, 10, 1, 0]),
        (.unsaid, "the row c", text + [0, 0]),
        (.groupCount, "more than rows", text + [1, 2, 2, 2, 2]),
        (.groupCount, "none for a row", text + [1, 2, 2, 2, 0]),
        (.groupCount, "one without rows", text + [1, 2, 2, 2, 1, 0, 9]),
        (.groupCount, "two rows of one", text + [1, 2, 2, 2, 1, 4, 9]),
        (.groupCount, "a plain one for a patched row", text + [1, 2, 2, 2, 1, 3, 9]),
        (.groupCount, "one for a row that needs none", text + [1, 2, 8, 3, 1, 2, 9]),
        (.groupSize, "a prefix and a large content", text + [1, 2, 2] + large + [1, 2, 9]),
        (.groupSize, "two rows that are large together", text + [2, 1, 0, 3, 3] + large + large + [1, 5, 9]),
        (.groupSize, "a frame longer than its content can make it", text + [1, 2, 2, 2, 1, 2, 0x80, 0x08]),
        (.trailing, "one byte", text + [1, 2, 8, 3, 0, 0]),
    ]

    @Test(arguments: rules)
    func `is refused by the rule that it breaks`(rule: PackError.HeadRule, what: String, head: [UInt8]) throws {
        let base = try Self.base()
        #expect(throws: PackError.head(rule), "\(what)") { try PackHead(text: head, version: .zstandard, base: base) }
    }

    @Test func `has each rule tried, and what breaks none is taken`() throws {
        let base = try Self.base()
        #expect(Set(Self.rules.map(\.rule)).union([.size, .tokens]) == Set(PackError.HeadRule.allCases))
        let taken: [[UInt8]] = [
            Self.text + [1, 2, 8, 3, 0], Self.text + [1, 2, 2, 2, 1, 2, 9],
            Self.text + [1, 2, 3] + Self.large + [1, 3, 9],
        ]
        for text in taken { _ = try PackHead(text: text, version: .zstandard, base: base) }
    }

    @Test func `names its size, and no more than it may have`() throws {
        let base = try Self.base()
        let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xA0, 0x01, 0x90, 0xD0, 0x03]
        for frame in [frame, [], Array("no frame at all".utf8), frame.dropLast(8) + [0x00, 0x58]] {
            #expect(throws: PackError.head(.size)) { try PackHead(frame: frame, version: .zstandard, base: base) }
        }
    }

    @Test func `holds a header that is JSON`() throws {
        let base = try Self.base()
        let fault = FormatError("header", rule: "is not JSON (byte 1)")
        #expect(throws: PackError.malformed(fault)) {
            try PackHead(text: [2] + Array("{x".utf8) + [0, 0, 0], version: .zstandard, base: base)
        }
    }
}
