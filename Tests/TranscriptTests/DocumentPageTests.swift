import Foundation
import PatchFormat
import PatchSync
import Testing

@testable import DeviceOutput

@Suite("The page of the device's JSON")
struct DocumentPageTests {
    private static let path =
        #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        + "/Sources/Device/Patchline/Patchline.docc/DeviceDocuments.md"

    private static let tables: [(heading: String, table: String)] = [
        ("status", StatusDocument.document.table), ("sync", SyncDocument.document.table),
        ("sync --dry-run", SyncForecast.document.table), ("explain", ExplanationDocument.document.table),
        ("Events of serve", EventDocument.all.table),
    ]

    @Test func `has the members and events of the lists that make the documents`() throws {
        let url = URL(filePath: Self.path)
        let page = try String(decoding: Data(contentsOf: url), as: UTF8.self)
        var expected = page
        for (heading, table) in Self.tables {
            expected = try #require(Self.page(expected, with: table, below: heading))
        }
        if ProcessInfo.processInfo.environment["PATCHLINE_TRANSCRIPTS"] == "write" {
            try Data(expected.utf8).write(to: url)
        } else {
            #expect(page == expected, "`make transcripts` writes the tables anew")
        }
    }

    /// The page with another table in the section, or nil if there is none.
    private static func page(_ page: String, with table: String, below heading: String) -> String? {
        guard let start = page.range(of: "\n## \(heading)\n\n"),
            let begin = page.range(of: "|", range: start.upperBound..<page.endIndex)
        else { return nil }
        let end = page.range(of: "\n\n", range: begin.lowerBound..<page.endIndex)?.lowerBound
        return page[..<begin.lowerBound] + table + (end.map { String(page[$0...]) } ?? "\n")
    }
}

@Suite("A list of members")
struct DocumentTests {
    private struct Cart: Sendable {
        struct Line: Sendable {
            let name: String
            let count: Int
        }

        let lines: [Line]
        var note: String?
        var isPaid = false
    }

    private static let line = Shape<Cart.Line>.object {
        Member("name", .text) { $0.name }
        Member("count", .integer(1...), "At least one.") { $0.count }
    }

    private static let document = Document<Cart>("cart", title: "cart --json", "A cart.") {
        Member("lines", line.list, "In order.") { $0.lines }
        Member(optional: "note", Shape.text(atMost: 9).named("note", "Of the buyer.")) { $0.note }
        Member(optional: "paid", .mark) { $0.isPaid ? () : nil }
        Member("state", .oneOf(["open", "closed"]), "closed: it is paid | given up.") { $0.isPaid ? "closed" : "open" }
    }

    @Test func `writes the document, without the members that are missing`() {
        let open = Cart(lines: [Cart.Line(name: "tea", count: 2)])
        #expect(Self.text(Self.document.json(open)) == #"{"lines":[{"count":2,"name":"tea"}],"state":"open"}"#)
        let paid = Cart(lines: [], note: "thanks", isPaid: true)
        #expect(Self.text(Self.document.json(paid)) == #"{"lines":[],"note":"thanks","paid":true,"state":"closed"}"#)
    }

    @Test func `makes the schema of the document`() {
        #expect(
            Self.document.schema == """
                {
                  "$schema": "https://json-schema.org/draft/2020-12/schema",
                  "$id": "urn:patchline:patchsync:cart:1",
                  "title": "cart --json",
                  "description": "A cart.",
                  "type": "object",
                  "required": ["lines", "state"],
                  "properties": {
                    "lines": {
                      "type": "array",
                      "items": {
                        "type": "object",
                        "required": ["name", "count"],
                        "properties": {
                          "name": {"type": "string"},
                          "count": {"type": "integer", "minimum": 1, "description": "At least one."}
                        }
                      },
                      "description": "In order."
                    },
                    "note": {"$ref": "#/$defs/note"},
                    "paid": {"const": true},
                    "state": {"enum": ["open", "closed"], "description": "closed: it is paid | given up."}
                  },
                  "$defs": {"note": {"type": "string", "maxLength": 9, "description": "Of the buyer."}}
                }
                """
        )
    }

    @Test func `makes the table of the page`() {
        #expect(
            Self.document.table == """
                | member | type | |
                |---|---|---|
                | `lines` | list of object | In order. |
                | `lines[].name` | text |  |
                | `lines[].count` | number | At least one. |
                | `note` ? | text | Of the buyer. |
                | `paid` ? | `true` |  |
                | `state` | `open`, `closed` | closed: it is paid \\| given up. |
                """
        )
    }

    private static func text(_ json: JSON) -> String { String(decoding: json.fileBytes, as: UTF8.self) }
}

@Suite("The schemas of the device's commands")
struct OutputSchemaTests {
    @Test func `are JSON with a title, and refer to definitions that exist`() throws {
        for schema in OutputSchema.allCases {
            let json = try JSON(parsing: Array(schema.text.utf8))
            #expect(json["title"] != nil && json["description"] != nil && json["required"] != nil, "\(schema.rawValue)")
            let names = schema.text.matches(of: #/"#\/\$defs\/([A-Za-z]+)"/#).map { String($0.1) }
            for name in names { #expect(json["$defs"]?[name] != nil, "\(schema.rawValue): \(name)") }
        }
    }
}
