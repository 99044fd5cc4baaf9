import FoundationEssentials
import SystemPackage
import Testing

/// What Tests/Sites/sites.py prints with `--json`.
private struct Report: Decodable {
    struct App: Decodable {
        let app: String
        let missing: String?
        let failed: String?
        let asked: Int?
        let defects: [Difference]?
    }

    struct Difference: Decodable {
        let label, method, path, part: String
    }

    let apps: [App]
    let ok: Bool
}

extension BrowserTests {
    /// The two small ones of `make sites`: nginx answers the same requests from the same folder, and Chromium opens both.
    @Suite("A site on a device beside nginx")
    struct SiteTests {
        @Test(arguments: ["garden", "notes"])
        func `answers as nginx does, and its next version is shown`(app: String) async throws {
            try await World.with { world in
                let sites = Tool.repository.appending("Tests/Sites/sites.py").string
                let arguments = [Tool.binaries.string, "--app", app, "--json", "--work", world.path("sites").string]
                // The report stands on the output, a line for a reader on the other.
                let outcome = try await run(
                    .python,
                    ["-B", sites] + arguments,
                    deadline: patience * 2
                )
                let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
                let judged = try #require(report.apps.first, "\(outcome)")
                #expect(judged.missing == nil && judged.failed == nil, "\(outcome)")
                #expect(judged.defects?.map { "\($0.label): \($0.path): \($0.part)" } == [], "\(outcome)")
                #expect(judged.asked ?? 0 > 250, "\(outcome)")
                #expect(report.ok && outcome.code == 0, "\(outcome)")
            }
        }
    }
}
