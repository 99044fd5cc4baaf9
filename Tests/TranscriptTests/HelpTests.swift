import ArgumentParser
import CommandKit
import Foundation
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
        var screens = Transcript(
            "\(name)-screens",
            about: "The long ones of \(name) as --help shortens them to a screen."
        )
        let commands = program.help
        #expect(commands.count > 12, "\(commands)")
        for (command, help, screen) in commands {
            transcript.section("\(name) help\(command.dropFirst(name.count))", [help])
            if screen != help { screens.section("\(command) --help", [screen]) }
            let screenLines = screen.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(screenLines.count <= HelpSummary.screen && screenLines.allSatisfy { $0.count <= 80 }, "\(screen)")
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
        transcript.section("\(name) help topics", [program.answer(["help", "topics"])])
        try transcript.check()
        try screens.check()
    }

    private func page(_ name: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let url = URL(filePath: "\(root)/Sources/Device/Patchline/Patchline.docc/\(name).md")
        return try String(decoding: Data(contentsOf: url), as: UTF8.self)
    }

    @Test func `lists the pages of the documentation in the order of its index`() throws {
        var expected: [String] = []
        for line in try page("Patchline").split(separator: "\n") {
            if line.hasPrefix("### ") {
                expected += ["", line.dropFirst(4).uppercased() + ":"]
            } else if let name = line.firstMatch(of: #/^- <doc:(\w+)>/#)?.1 {
                let title = try #require(page(String(name)).split(separator: "\n").first).dropFirst(2)
                expected.append("  " + name + String(repeating: " ", count: max(2, 24 - name.count)) + title)
            }
        }
        #expect(HelpTopics.list == expected.dropFirst().joined(separator: "\n"))
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
