import PatchFormat
import Testing

@Suite("The text of a settings file")
struct FileTextTests {
    private static let text = "a: ü\nb: 1 \n"

    private static func utf16(_ text: String, isBig: Bool) -> [UInt8] {
        text.utf16.flatMap { unit in
            let pair = [UInt8(unit & 0xFF), UInt8(unit >> 8)]
            return isBig ? pair.reversed() : pair
        }
    }

    @Test(arguments: [
        Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8),
        Array(text.replacing("\n", with: "\r\n").utf8), Array(text.replacing("\n", with: "\r").utf8),
        [0xFF, 0xFE] + utf16(text, isBig: false), [0xFE, 0xFF] + utf16(text, isBig: true),
        [0xFF, 0xFE] + utf16(text.replacing("\n", with: "\r\n"), isBig: false),
    ])
    func `is the same whichever editor wrote it`(bytes: [UInt8]) throws {
        #expect(try FileText.decode(bytes) == Self.text)
    }

    @Test(arguments: [
        ([0x61, 0xFF], FileText.Problem.notUTF8), (utf16("ab", isBig: false), .utf16WithoutMark),
        (utf16("ab", isBig: true), .utf16WithoutMark), ([0xFF, 0xFE, 0x00], .damagedUTF16),
        ([0xFF, 0xFE, 0x00, 0xD8], .damagedUTF16), ([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], .utf32),
        ([0, 0, 0xFE, 0xFF, 0, 0, 0, 0x61], .utf32),
    ])
    func `is refused with what is wrong with it`(bytes: [UInt8], problem: FileText.Problem) {
        #expect(throws: problem) { try FileText.decode(bytes) }
    }

    @Test func `is refused in words that name the way out`() {
        #expect(
            FileText.Problem.allCases.map(\.rawValue) == [
                "is not UTF-8", "is UTF-16 without a byte order mark; save it as UTF-8",
                "is not valid UTF-16; save it as UTF-8", "is UTF-32; save it as UTF-8",
            ]
        )
    }

    @Test(arguments: [[], [0xEF, 0xBB, 0xBF], [0xFF, 0xFE]] as [[UInt8]])
    func `may be empty`(bytes: [UInt8]) throws {
        #expect(try FileText.decode(bytes).isEmpty)
    }
}
