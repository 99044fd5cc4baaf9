import FoundationEssentials
import PatchFormat
import PatchTesting
import Testing

@Suite("A hostile document")
struct HostileDocumentTests {
    static let areas = [
        "accepted", "bundle", "dial", "entry", "header", "json", "keys", "list", "manifest", "object", "pem", "release",
        "root", "signatures", "snapshot", "targets", "timestamp",
    ]
    static let cases = areas.flatMap { (try? HostileCase.all(in: $0)) ?? [] }

    @Test(arguments: cases)
    func `is refused for what is wrong with it, and what only looks odd is accepted`(_ row: HostileCase) throws {
        #expect(try row.refusal() ?? "accepted" == (try row.fields.string("expect")))
    }

    @Test(arguments: areas)
    func `stands in a row of its area's table`(_ area: String) throws {
        let rows = try HostileCase.all(in: area)
        #expect(!rows.isEmpty)
        #expect(Set(rows.map(\.name)).count == rows.count)
        for row in rows {
            #expect(try !row.fields.string("why").isEmpty && !row.fields.string("breaks").isEmpty)
            #expect(try (row.fields.string("breaks") == "nothing") == (area == "accepted"))
        }
    }

    @Test func `is read by a case, whatever its file is called`() throws {
        let read = Set(try Self.cases.flatMap { try $0.files })
        #expect(read == Set(try Self.files().filter { $0.contains("/") && !$0.hasSuffix("cases.json") }))
    }

    @Test func `can be written again, byte for byte`() throws {
        let bench = try Bench()
        let folder = repository.appending(path: "Tests/Vectors/\(HostileCase.folder)").path
        try bench.run("\(Self.python) '\(folder)/make.py' again")
        try bench.run("diff -r -x '*.py' -x '*.md' -x __pycache__ '\(folder)' again")
    }

    @Test func `ends at python-tuf as it ends here, but for the differences that judge.py names`() throws {
        let folder = repository.appending(path: "Tests/Vectors/\(HostileCase.folder)").path
        let verdict = try Bench().run("\(Self.python) '\(folder)/judge.py'")
        #expect(verdict.hasSuffix("0 of them unexplained\n"))
    }

    /// One that is missing fails its test.
    ///
    /// It leaves no compiled files among the vectors.
    private static let python = #""${PATCHLINE_JUDGES_PYTHON:?is not set}" -B"#

    @Test func `of a kind that nobody reads fails`() throws {
        let fields = try Fields(try JSON(parsing: Array(#"{"reads":"poem"}"#.utf8)), of: "cases.json")
        #expect(throws: HostileCase.UnknownWord.self) {
            try HostileCase(area: "x", name: "y", fields: fields).refusal()
        }
    }

    /// Every file below the folder, by its path there.
    private static func files() throws -> [String] {
        let folder = repository.appending(path: "Tests/Vectors/\(HostileCase.folder)").path
        return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { path in
            guard !path.hasPrefix("__pycache__") else { return false }
            var isFolder = false
            return FileManager.default.fileExists(atPath: "\(folder)/\(path)", isDirectory: &isFolder) && !isFolder
        }
    }
}
