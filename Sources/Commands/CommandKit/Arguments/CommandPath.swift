package import ArgumentParser
package import PatchFormat

/// The command that a command line begins with, below a program's root: `patchsrv audit list …`.
package struct CommandPath {
    /// The commands from the root on.
    private var commands: [any ParsableCommand.Type]
    /// The first word that should be a subcommand but is not.
    private var other: String?
    /// Whether all words are subcommands.
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

    /// Whether an unknown subcommand may be an argument of the default one.
    var hasDefault: Bool { commands[commands.count - 1].configuration.defaultSubcommand != nil }

    /// Whether the command line has only subcommands, and the last one needs another subcommand.
    var isWholeGroup: Bool {
        isWhole && !hasDefault && !commands[commands.count - 1].configuration.subcommands.isEmpty
    }

    /// The failure for an unknown command, with a suggestion.
    ///
    /// Nil if the command exists.
    package var unknown: Failure? {
        guard let other else { return nil }
        let choices = commands[commands.count - 1].configuration.subcommands.filter { $0.configuration.shouldDisplay }
        let meant = other.nearest(among: choices.map { $0._commandName })
        return Failure(
            "\(typed) has no command \(other)",
            hint: meant.map { "did you mean \(typed) \($0)?" }
                ?? (hasDefault ? nil : "\(typed) --help lists the commands"),
            code: .usage
        )
    }

    /// The command as it is typed, such as `patchsrv audit list`.
    var typed: String { commands.map { $0._commandName }.joined(separator: " ") }

    /// Adds the version, the topics and the exit codes of the command's group, which are unknown to the parser, to a help text.
    func completed(_ text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if commands.count == 1, let help = lines.firstIndex(where: { $0.hasPrefix("  -h, --help ") }) {
            lines.insert("  --version               Show the version.", at: help)
        }
        if commands.count == 1, lines.last?.hasPrefix("  See '") ?? false {
            lines.append("  See '\(typed) help topics' for the pages.")
        }
        if !lines.contains(ExitCodes.heading), let usage = lines.firstIndex(where: { $0.hasPrefix("USAGE: ") }),
            let codes = commands.reversed().lazy.compactMap({ ExitCodes.section(of: $0.configuration.discussion) })
                .first
        {
            lines.insert(contentsOf: codes + [""], at: usage)
        }
        // The parser lists shared options before the command's own.
        if let own = lines.firstIndex(of: "OPTIONS:"),
            let shared = lines[..<own].firstIndex(where: { $0.isHelpHeading && HelpSection.Kind($0) == .group })
        {
            let end = lines[own...].firstIndex(of: "") ?? lines.endIndex
            let options = lines[own..<end]
            lines.removeSubrange(own..<end)
            lines.insert(contentsOf: options + [""], at: shared)
        }
        return lines.joined(separator: "\n")
    }
}
