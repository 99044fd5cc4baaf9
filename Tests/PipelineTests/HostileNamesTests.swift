import Foundation
import Subprocess
import SystemPackage
import Testing

/// Names that no resource may have, in every path parameter of every endpoint there is (Judges/hostile_names.py).
@Suite("A hostile name", .timeLimit(.minutes(30)))
struct HostileNamesTests {
    @Test func `is refused in words wherever it stands, and nothing outside is read or written`() async throws {
        try await ServiceFixture.with { fixture in
            let token = try await fixture.token("*=admin")
            let release = fixture.world.shop.release(2).string
            let names = fixture.world.path("names.json")
            let setup = ["setup", fixture.url, token, release]
            try write(
                try await run(.python, [Tool.script("hostile_names.py")] + setup).done().output,
                to: names
            )
            try write("keep out", to: fixture.site.appending("secret"))
            let before = try await remains(of: fixture)
            let asked = try await run(
                .python,
                [Tool.script("hostile_names.py"), "ask", fixture.url, names.string],
                deadline: patience * 2
            )
            #expect(asked.code == 0 && asked.output.wholeMatch(of: #/asked \d{4,}\n/#) != nil, "\(asked)")
            #expect(try await remains(of: fixture) == before)
        }
    }

    /// All files but those of SQLite, and what the audit log says.
    private func remains(of fixture: ServiceFixture) async throws -> [String] {
        let listing =
            "find . -type f -not -name 'records.sqlite*' | sort | xargs -d '\\n' sha256sum; find . -type d | sort"
        let files = try await run(.system("bash"), ["-ec", listing], in: fixture.world.folder).done().output
        let log = try await run(.patchsrv, ["audit", "export", "--data", fixture.site.string]).done().output
        return [files, log]
    }
}
