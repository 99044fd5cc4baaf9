import CommandKit
import PatchFormat
import PatchTrust
import Testing

@Suite("A report of checks")
struct CheckReportTests {
    static let key = SHA256Digest(hex: String(repeating: "ab", count: 32))

    static func files(_ count: Int) -> [CheckRecord] {
        (0..<count).map { CheckRecord(.fingerprint, of: "web 1 file\($0)") }
    }

    @Test func `has a line a check, with its rule and the key by name and id`() throws {
        let key = try #require(Self.key)
        let records = [
            CheckRecord(.entrySignature, of: "fix 1", key: key), CheckRecord(.nextVersion, of: "production 2"),
        ]
        #expect(
            CheckReport(records, names: [key: "entry"]).lines(all: false) == [
                "✓ fix 1: Formats: an entry key signed the list entry's statement, by entry key abababababab…",
                "✓ production 2: Formats: a release's role is one version above its base",
            ]
        )
        #expect(CheckReport(records).lines(all: false)[0].hasSuffix(", by key abababababab…"))
    }

    @Test func `shows twenty checks of each file and counts the others`() {
        #expect(CheckReport(Self.files(20)).lines(all: false).count == 20)
        let lines = CheckReport(Self.files(23)).lines(all: false)
        #expect(lines.count == 21)
        #expect(lines.last == "✓ and 3 more: \(CheckRecord.Rule.fingerprint.rawValue) (--all shows them)")
        #expect(CheckReport(Self.files(23)).lines(all: true).count == 23)
    }

    @Test func `shows what does not hold, however late it comes`() {
        let broken = CheckRecord(.fingerprint, of: "web 1 last", fault: "web 1 last: is missing")
        let lines = CheckReport(Self.files(30) + [broken]).lines(all: false)
        #expect(lines.contains("✗ web 1 last: is missing"))
        #expect(lines.last?.contains("and 10 more") == true)
        let few = CheckRecord(.threshold, of: "production 2, 1 of 2", fault: "signatures are missing")
        #expect(CheckReport([few]).lines(all: false) == ["✗ production 2, 1 of 2: signatures are missing"])
    }

    @Test func `writes out what could drive a terminal`() {
        #expect(CheckReport([CheckRecord(.fingerprint, of: "a\u{1B}b")]).lines(all: false)[0].hasPrefix("✓ a\\u{1B}b:"))
    }

    @Test func `gives scripts every row, with the name of its key`() throws {
        let key = try #require(Self.key)
        let rows = CheckReport(
            [CheckRecord(.entrySignature, of: "fix 1", key: key)] + Self.files(30),
            names: [key: "e"]
        )
        guard case .array(let values) = rows.json else { preconditionFailure("rows are an array") }
        #expect(values.count == 31)
        #expect(
            values[0]
                == .fields([
                    ("check", .text("entrySignature")), ("subject", .text("fix 1")),
                    ("rule", .text("Formats: an entry key signed the list entry's statement")),
                    ("key", .text(key.hex)), ("result", .text("holds")), ("keyName", .text("e")),
                ])
        )
    }
}
