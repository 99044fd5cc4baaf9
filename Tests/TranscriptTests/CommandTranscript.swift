import ArgumentParser
import CommandKit
import PatchFormat

/// What one of the programs answers before any of its commands does something.
struct CommandTranscript {
    let program: any AsyncParsableCommand.Type
    let name: String

    /// The whole help of each command, and the shorter one of `--help`, in a terminal of 80 columns.
    var help: [(command: String, whole: String, screen: String)] {
        func commands(_ command: any ParsableCommand.Type, _ words: [String]) -> [[String]] {
            [words]
                + command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap {
                    commands($0, words + [$0._commandName])
                }
        }
        return commands(program, []).map { words in
            (([name] + words).joined(separator: " "), answer(["help"] + words), answer(words + ["--help"]))
        }
    }

    /// What it answers, with the code; the parser's usage lines behind it are part of the help.
    func answer(_ words: [String]) -> String {
        switch program.reading(words, columns: 80) {
        case .runs: "(it runs)"
        case .prints(let text): text
        case .fails(let failure): failure.transcript
        case .answers(_, let text):
            "error: " + text.prefix { $0 != "\n" }.dropFirst("Error: ".count)
                + "\n[\(ResultCode.usage.rawValue)]"
        }
    }

    /// Each line of words, split at blanks, with what is answered.
    func answers(_ lines: [String]) -> [String] {
        lines.map { line in "$ \(name) \(line)\n" + answer(line.split(separator: " ").map(String.init)) }
    }
}
