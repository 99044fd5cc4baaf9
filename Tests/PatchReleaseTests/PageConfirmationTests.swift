import PatchFormat
import Testing

@testable import PatchRelease

@Suite("The confirmation by a bundle's page")
struct PageConfirmationTests {
    private static let page = "<!doctype html><title>shop</title>"
    private static let included = "\(page)<script src=\"/__patchline/launch.js\"></script>"

    private static func findings(_ bytes: [UInt8], pieces: Int = 65_536) -> ContentSearch.Findings {
        var search = ContentSearch([.code, .links])
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            search.take(Array(bytes[start..<min(start + pieces, bytes.count)]))
        }
        return search.finish()
    }

    private static func confirmation(_ files: [String: [UInt8]]) throws -> PageConfirmation {
        PageConfirmation(in: try files.map { (try AssetPath($0), findings($1)) })
    }

    private static func isMissing(_ files: [String: String]) throws -> Bool {
        try confirmation(files.mapValues { Array($0.utf8) }).isMissing(fromAppOf: try AssetPath("index.html"))
    }

    @Test(arguments: [
        "window.patchline.confirm()", "patchline?.startupDidComplete()", "const { confirm } = patchline; confirm()",
        "fetch('/__patchline/confirm?page=' + page, { method: 'POST' })", "window['patchline']['confirm']()",
        "const p=window.patchline;p.on('ready',f);p.confirm()",
    ])
    func `is found in a page or in a script, in any of its forms`(_ code: String) throws {
        #expect(try !Self.isMissing(["index.html": "\(Self.included)<script>\(code)</script>"]))
        #expect(try !Self.isMissing(["index.html": Self.included, "assets/main.js": code]))
        #expect(Self.findings(Array(code.utf8), pieces: 7).confirmation == .whole)
    }

    @Test func `may be in several files`() throws {
        #expect(
            try !Self.isMissing([
                "index.html": Self.included, "api.mjs": "export default window.patchline",
                "main.mjs": "import api from './api.mjs'; api.confirm()",
            ])
        )
    }

    @Test(arguments: ["", "main()", "if (confirm('Delete?')) remove()", "// the manifest of patch lines"])
    func `is missing if a page only includes the script, or not even that`(_ code: String) throws {
        for page in [Self.page, Self.included, "\u{FEFF}\n<HTML lang=en>"] {
            #expect(try Self.isMissing(["index.html": page, "main.js": code]))
        }
    }

    @Test func `is not missed where the files do not show it`() throws {
        // A fragment is a placeholder or a test page.
        #expect(try !Self.isMissing(["index.html": "<p>shop</p>"]))
        #expect(try !Self.isMissing(["index.html": Self.page, "main.js.br": "x"]))
        #expect(try Self.isMissing(["index.html": Self.page, "main.js": "main()", "main.js.br": "x"]))
        let zipped = try Self.confirmation(["index.html": Array(Self.page.utf8), "main.js": [0x1F, 0x8B, 8, 0]])
        #expect(!zipped.isMissing(fromAppOf: try AssetPath("index.html")))
    }

    @Test func `is warned about once a bundle, unless the description or a script of pages says otherwise`()
        async throws
    {
        let warning =
            "release.yaml:6: patches[2].confirmed-by"
            + BundleNote.unconfirmed.rule(in: try AssetPath("web"))
        for (extra, place, expected) in [
            ("", "", [warning]), ("confirmed-by: program", "", []), ("confirmed-by: page", "", [warning]),
            ("", ", runsIn: page", []), ("", ", runsIn: host", [warning]),
        ] {
            let bench = try Workbench()
            try bench.describe("v1", extra: extra, place: place)
            try bench.write(Self.included, to: "v1/web/index.html")
            try bench.write(Self.page, to: "v1/web/about.html")
            let made = try await bench.release("v1", to: "out").made
            let warnings = made.warnings.map { "\($0)".replacing("\(bench.folder)/v1/", with: "") }
            let line = extra == "confirmed-by: page" ? "yaml:12" : "yaml:6"
            #expect(warnings == expected.map { $0.replacing("yaml:6", with: line) }, "\(extra)\(place)")
        }
    }
}
