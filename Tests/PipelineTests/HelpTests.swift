import Foundation
import Subprocess
import SystemPackage
import Testing

@Suite("The help of every command")
struct HelpTests {
    /// The words of each command, from the program's own list of them.
    private func commands(of tool: Tool) async throws -> [[String]] {
        let dump = try await run(tool, ["--experimental-dump-help"]).done().output
        let root = try #require(try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: Any])
        func paths(_ command: Any?, below path: [String]) -> [[String]] {
            let subcommands = (command as? [String: Any])?["subcommands"] as? [[String: Any]] ?? []
            return [path]
                + subcommands.filter { $0["commandName"] as? String != "help" }.flatMap {
                    paths($0, below: path + [$0["commandName"] as? String ?? ""])
                }
        }
        return paths(root["command"], below: [])
    }

    @Test(arguments: [0, 1, 2])
    func `fits 80 columns with no word alone in a line, and lists its exit codes`(_ index: Int) async throws {
        let (tool, name) = CommandTests.programs[index]
        let commands = try await commands(of: tool)
        #expect(commands.count > 12, "\(commands)")
        for command in commands {
            let help = try await run(tool, command + ["--help"], environment: ["COLUMNS": "80"]).done()
            let lines = help.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            for line in lines { #expect(line.count <= 80, "\(name) \(command): \(line)") }
            for (before, line) in zip(lines, lines.dropFirst()) where line.isProse && before.isProse {
                #expect(line.contains(" "), "\(name) \(command): \(line)")
            }
            #expect(!help.output.contains("\\\n\n"), "\(help)")
            #expect(lines.contains("EXAMPLES"), "\(name) \(command) shows no example: \(help)")
            let codes = try #require(lines.firstIndex(of: "EXIT CODES"), "\(help)")
            let rows = lines[(codes + 1)...].prefix { !$0.isEmpty }.compactMap { row in
                row.firstMatch(of: #/^  (\d+) +\S/#).flatMap { Int($0.1) }
            }
            #expect(rows.count >= 2 && rows == Array(Set(rows)).sorted() && rows.contains(64), "\(help)")
        }
    }

    @Test func `is as wide as the terminal, and no wider than is easily read`() async throws {
        func widest(_ columns: String) async throws -> Int {
            let help = try await run(.patchsrv, ["serve", "--help"], environment: ["COLUMNS": columns]).done()
            return help.output.split(separator: "\n").map(\.count).max() ?? 0
        }
        #expect(try await widest("90") > 80)
        #expect(try await widest("300") <= 100)
    }

    @Test(arguments: [
        (0, ["relase", "x"], "patchsign has no command relase", "did you mean patchsign release?"),
        (0, ["help", "frob"], "patchsign has no command frob", "patchsign --help lists the commands"),
        (
            0, ["release", "sgin", "a", "b"], "patchsign release has no command sgin",
            "did you mean patchsign release sign?"
        ),
        (1, ["draft", "shwo", "3"], "patchsrv draft has no command shwo", "did you mean patchsrv draft show?"),
        (1, ["audit", "frob"], "patchsrv audit has no command frob", "patchsrv audit --help lists the commands"),
        (2, ["syncc", "--store", "x"], "patchsync has no command syncc", "did you mean patchsync sync?"),
    ])
    func `is named to whoever misspells it`(_ index: Int, _ words: [String], _ says: String, _ hint: String)
        async throws
    {
        let outcome = try await run(CommandTests.programs[index].tool, words)
        #expect(outcome.code == 64 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors == "error: \(says)\nhint: \(hint)\n")
    }

    @Test func `names the version, which is the same everywhere`() async throws {
        let versions = try await CommandTests.programs.asyncMap { try await run($0.tool, ["--version"]).done().output }
        #expect(Set(versions).count == 1 && versions[0].contains(#/^\d+\.\d+\.\d+\n$/#), "\(versions)")
        for program in CommandTests.programs {
            #expect(try await run(program.tool, ["--help"]).output.contains("\n  --version  "))
        }
        try await World.with { world in
            let arguments = ["serve", "--data", try await world.site(world.shop.site1).string] + anyPorts
            _ = try await running(.patchsrv, arguments) { server in
                let url = try await server.operators()
                let health = try await run(.system("curl"), ["-sSi", "\(url)/healthz"]).done()
                let version = versions[0].dropLast()
                #expect(health.output.contains("Patchline-Version: \(version)\r\n"), "\(health)")
                let numbers = try await run(.system("curl"), ["-sS", "\(url)/metrics"]).done().output
                #expect(numbers.contains(#"patchline_build_info{program="patchsrv",version="\#(version)"} 1"#))
            }
        }
    }

    @Test func `says of a time what it is for`() async throws {
        for command in ["verify", "status"] {
            let help = try await run(.patchsign, [command, "--help"], environment: ["COLUMNS": "100"]).output
            #expect(help.contains("The time to judge by") && !help.contains("The time to write"), "\(help)")
        }
    }
}

extension String {
    fileprivate var isProse: Bool {
        !isEmpty && !hasPrefix(" ") && !hasSuffix(":") && self != uppercased()
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
