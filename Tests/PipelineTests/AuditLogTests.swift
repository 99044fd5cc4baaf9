import SystemPackage
import Testing

/// Row J16, by the programs, and by somebody who knows the format's page alone.
@Suite("An exported audit log")
struct AuditLogTests {
    private func verify(_ log: FilePath, _ options: String...) async throws -> Outcome {
        try await run(.patchsrv, ["audit", "verify", log.string] + options)
    }

    @Test func `is checked without the server, which names each line that is not what was written`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let token = ["token", "new", #"Ünï "q" \ 日本"#, "--grant", "*=viewer", "--data", site.string]
            try await run(.patchsrv, token).done()
            let exported = try await run(.patchsrv, ["audit", "export", "--data", site.string]).done().output
            let lines = exported.split(separator: "\n").map(String.init)
            try #require(lines.count == 4)
            let log = world.path("audit.jsonl")
            try write(exported, to: log)

            let judge = try await run(.python, [Tool.script("audit.py"), log.string]).done()
            let parts = judge.output.split(whereSeparator: \.isWhitespace).map(String.init)
            let whole = try await verify(log, "--head", try #require(parts.last)).done()
            #expect(parts.first == "4" && whole.output.contains("4 entries, each as it was written"), "\(whole)")

            func expect(_ sentence: String, judge rule: String, _ alter: (inout [String]) -> Void) async throws {
                var altered = lines
                alter(&altered)
                try write(altered.map { $0 + "\n" }.joined(), to: log)
                let found = try await verify(log)
                #expect(found.code == 3 && found.output == "✗ \(sentence)\n", "\(found)")
                let judged = try await run(.python, [Tool.script("audit.py"), log.string])
                #expect(judged.code == 1 && judged.output == rule + "\n", "\(judged)")
            }
            try await expect("entry 4 was edited", judge: "line 4: hash") {
                $0[3] = $0[3].replacing("Ünï", with: "Uni")
            }
            try await expect("entry 2 was removed", judge: "line 2: number") { $0.remove(at: 1) }
            try await expect(
                "entry 2 follows entry 3, in line 3: lines were swapped",
                judge: "line 2: number"
            ) { $0.swapAt(1, 2) }
            try await expect(
                "line 4 was inserted: another entry 2 is in its place",
                judge: "line 4: number"
            ) { $0.insert($0[1], at: 3) }

            try write(lines.dropLast().map { $0 + "\n" }.joined(), to: log)
            let cut = try await verify(log, "--head", try #require(parts.last), "--json")
            #expect(cut.code == 3 && cut.output.contains(#""fault": "withoutHead""#), "\(cut)")
            let nothing = try await run(.patchsrv, ["audit", "verify"])
            #expect(nothing.code == 64 && nothing.errors.contains("name an exported log"), "\(nothing)")
            let missing = try await verify(world.path("nowhere"))
            #expect(missing.code == 6, "\(missing)")
        }
    }
}
