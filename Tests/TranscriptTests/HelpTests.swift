import ArgumentParser
import Testing

@testable import PatchServerCommand
@testable import PatchSignCommand
@testable import PatchSyncCommand

@Suite("The help of every command, in transcripts")
struct HelpTests {
    static let programs = [
        CommandTranscript(program: PatchSignProgram.self, name: "patchsign"),
        CommandTranscript(program: PatchServerProgram.self, name: "patchsrv"),
        CommandTranscript(program: PatchSyncProgram.self, name: "patchsync"),
    ]

    @Test(arguments: [0, 1, 2])
    func `stands in its program's transcript, with examples and exit codes, in 80 columns`(_ index: Int) throws {
        let (program, name) = (Self.programs[index], Self.programs[index].name)
        var transcript = Transcript("\(name)-help", about: "The help of every command of \(name), in 80 columns.")
        let commands = program.help
        #expect(commands.count > 12, "\(commands)")
        for (command, help) in commands {
            transcript.section(command, [help])
            let lines = help.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            for line in lines { #expect(line.count <= 80, "\(command): \(line)") }
            for (before, line) in zip(lines, lines.dropFirst()) where line.isProse && before.isProse {
                #expect(line.contains(" "), "\(command): a word stands alone: \(line)")
            }
            #expect(!help.contains("\\\n\n"), "\(help)")
            let examples = lines.drop { $0 != "EXAMPLES" }.prefix { !$0.isEmpty }
            #expect(examples.contains { $0.hasPrefix("  \(name) ") }, "\(command) shows no example: \(help)")
            let codes = try #require(lines.firstIndex(of: "EXIT CODES"), "\(help)")
            let rows = lines[(codes + 1)...].prefix { !$0.isEmpty }.compactMap { row in
                row.firstMatch(of: #/^  (\d+) +\S/#).flatMap { Int($0.1) }
            }
            #expect(rows.count >= 2 && rows == Array(Set(rows)).sorted() && rows.contains(64), "\(help)")
        }
        try transcript.check()
    }

    @Test func `says of a time what it is for`() {
        for command in ["verify", "status"] {
            let help = Self.programs[0].answer([command, "--help"])
            #expect(help.contains("The time at which expiry is checked"), "\(help)")
            #expect(!help.contains("The time to write"), "\(help)")
        }
    }
}

extension String {
    fileprivate var isProse: Bool {
        !isEmpty && !hasPrefix(" ") && !hasSuffix(":") && self != uppercased()
    }
}
