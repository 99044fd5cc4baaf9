package import ArgumentParser
package import PatchFormat

/// The command that a command line begins with, below a program's root: `patchsrv audit list …`.
package struct CommandPath {
    /// From the root on, the root first.
    private var commands: [any ParsableCommand.Type]
    /// What stands where a subcommand should.
    private var other: String?
    /// Whether no word is left over.
    private var isWhole = false

    package init(_ arguments: [String], of root: any ParsableCommand.Type) {
        commands = [root]
        for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let choices = commands[commands.count - 1].configuration.subcommands
            guard !word.hasPrefix("-"), !choices.isEmpty else { return }
            guard
                let next = choices.first(where: { $0._commandName == word || $0.configuration.aliases.contains(word) })
            else {
                other = word
                return
            }
            commands.append(next)
        }
        isWhole = true
    }

    /// Whether what is no subcommand may be an argument of the usual one.
    var hasDefault: Bool { commands[commands.count - 1].configuration.defaultSubcommand != nil }

    /// Whether nothing else stands there, and it does nothing without a subcommand.
    var isWholeGroup: Bool {
        isWhole && !hasDefault && !commands[commands.count - 1].configuration.subcommands.isEmpty
    }

    /// Why it is no command, with the one that may have been meant; nil where it is one.
    package var unknown: Failure? {
        guard let other else { return nil }
        let choices = commands[commands.count - 1].configuration.subcommands.filter { $0.configuration.shouldDisplay }
        let path = commands.map { $0._commandName }.joined(separator: " ")
        let meant = other.nearest(among: choices.map { $0._commandName })
        return Failure(
            "\(path) has no command \(other)",
            hint: meant.map { "did you mean \(path) \($0)?" }
                ?? (hasDefault ? nil : "\(path) --help lists the commands"),
            code: .usage
        )
    }

    /// A help text with what the parser does not know of: the version, and the exit codes of the group that a command is of.
    func completed(_ text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if commands.count == 1, let help = lines.firstIndex(where: { $0.hasPrefix("  -h, --help ") }) {
            lines.insert("  --version               Show the version.", at: help)
        }
        if !lines.contains(ExitCodes.heading), let usage = lines.firstIndex(where: { $0.hasPrefix("USAGE: ") }),
            let codes = commands.reversed().lazy.compactMap({ ExitCodes.section(of: $0.configuration.discussion) })
                .first
        {
            lines.insert(contentsOf: codes + [""], at: usage)
        }
        return lines.joined(separator: "\n")
    }
}
