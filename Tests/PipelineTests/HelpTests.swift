import Foundation
import PatchTesting
import Subprocess
import SystemPackage
import Testing

@Suite("The help of every command")
struct HelpTests {
    @Test func `is printed as its transcript has it, to a terminal of 80 columns`() async throws {
        for (tool, name) in CommandTests.programs {
            let kept = try Transcripts.text("TranscriptTests/Transcripts/\(name)-help")
            let help = try await run(tool, ["help"], environment: ["COLUMNS": "80"]).done()
            #expect(kept.contains("== \(name) help\n\n\(help.output)\n=="), "\(help)")
        }
    }

    @Test func `is as wide as the terminal, and no wider than is easily read`() async throws {
        func widest(_ columns: String) async throws -> Int {
            let help = try await run(.patchsrv, ["help", "serve"], environment: ["COLUMNS": columns]).done()
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
    func `is named to whoever misspells it`(_ index: Int, _ words: [String], _ expected: String, _ hint: String)
        async throws
    {
        let outcome = try await run(CommandTests.programs[index].tool, words)
        #expect(outcome.code == 64 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors == "error: \(expected)\nhint: \(hint)\n")
    }

    @Test func `is offered word by word in bash, zsh and fish`() async throws {
        try await World.with { world in
            let shells = ["bash", "zsh", "fish"]
            for (place, (tool, name)) in CommandTests.programs.enumerated() {
                // A large program needs five seconds for a script, so in CI each makes one, and the last makes all.
                let isLast = place == CommandTests.programs.count - 1
                for shell in isLast || Sweep.isFull ? shells : [shells[place % shells.count]] {
                    let script = world.path("\(name).\(shell)")
                    let made = try await run(tool, ["--generate-completion-script", shell]).done().output
                    try write(made, to: script)
                    try await run(.system(shell), ["-n", script.string]).done()
                    let asked: String
                    switch shell {
                    case "bash":
                        asked = """
                            . \(script); COMP_WORDS=(\(name) stat); COMP_CWORD=1 COMP_LINE='\(name) stat' COMP_POINT=${#COMP_LINE}
                            _\(name) \(name) stat \(name); printf '%s\\n' "${COMPREPLY[@]}"
                            """
                    case "fish": asked = "source \(script); complete -C '\(name) stat'"
                    default: continue
                    }
                    let offered = try await run(.system(shell), ["-c", asked], environment: world.path).done()
                    #expect(offered.output.contains(#/^status(\t\S[^\n]*)?\n$/#), "\(offered)")
                }
            }
        }
    }

    @Test func `names the version, which is the same everywhere`() async throws {
        let versions = try await CommandTests.programs.asyncMap { try await run($0.tool, ["--version"]).done().output }
        #expect(Set(versions).count == 1 && versions[0].contains(#/^\d+\.\d+\.\d+\n$/#), "\(versions)")
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
}

extension World {
    /// In which a shell finds the programs.
    fileprivate var path: [Environment.Key: String?] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return ["PATH": "\(Tool.binaries):\(path)", "HOME": folder.string]
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
