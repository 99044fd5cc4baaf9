import PatchFormat
import ArgumentParser
import CommandKit
import PatchServer
import PatchStore
import SystemPackage

/// Options that every command reads from the environment and from the file of `--config`, unless its command line has them.
///
/// One file serves all commands: each uses the options that it has. Options for a single action are not allowed in the file.
enum CommandSettings {
    /// All options that the file may contain.
    private static let all =
        ServeSettings.all + PagesCommand.settings + [
            Setting("server", alternative: "place"), Setting("token-file"), Setting("ca"),
            Setting("retries", rule: PlaceOptions.retriesRule) { Int($0).map(PlaceOptions.retries.contains) ?? false },
            Setting("app"), Setting("channel"),
            Setting("keep", rule: GarbageCommand.keepRule) { Int($0).map(GarbageCommand.keeps.contains) ?? false },
            Setting("protect", rule: "must be a length of time such as 48h, 7d or 0h") {
                ProtectedTime(argument: $0) != nil
            },
        ]

    /// The names of a command's options, read from its help.
    private static func options(of command: any ParsableCommand.Type) -> Set<String> {
        var names: Set<String> = []
        for line in PatchServerProgram.helpMessage(for: command, columns: 80).split(separator: "\n") {
            for word in line.split(separator: " ").prefix(while: { $0.hasPrefix("--") }) {
                names.insert(String(word.dropFirst(2).prefix { $0 != "," }))
            }
        }
        return names
    }

    /// The command line extended by the environment and the file.
    ///
    /// Nil if it only asks for the configuration, which was printed.
    static func expanded(_ arguments: [String]) throws -> [String]? {
        let (words, type) = command(in: arguments)
        guard let type, Set(arguments).isDisjoint(with: ["-h", "--help", "-help"]) else { return arguments }
        // Its passphrase is that of the release keys, so the settings of a server do not apply to it.
        guard type != QuickstartCommand.self else { return arguments }
        let given = Array(arguments.dropFirst(words.count))
        let file =
            ResolvedSettings.options(in: given)["config"]
            ?? ProcessEnvironment.environment("PATCHSRV_CONFIG").flatMap { $0.isEmpty ? nil : $0 }
        let names = options(of: type)
        do {
            let settings = try ResolvedSettings(
                all.filter { names.contains($0.name) },
                arguments: given,
                environment: ProcessEnvironment.environment,
                file: try file.map(read)
            )
            if type == ServeCommand.self, given.contains("--print-config") {
                let isAnyPort = settings.value(of: "port").flatMap { Int($0) } == 0
                let shown = isAnyPort ? settings.with(standard: "0", of: "operators-port") : settings
                Console.standardOutput.write(shown.text)
                return nil
            }
            return words + settings.addedArguments + given
        } catch let error as SettingsError { throw Failure(error) }
    }

    /// The names of the command and its subcommands, and the command that has the options.
    ///
    /// Nil for an incomplete command line, which the command itself reports.
    private static func command(in arguments: [String]) -> ([String], (any ParsableCommand.Type)?) {
        var command: any ParsableCommand.Type = PatchServerProgram.self
        var words: [String] = []
        for argument in arguments {
            let below = command.configuration.subcommands
            guard let next = below.first(where: { $0.configuration.commandName == argument }) else { break }
            words.append(argument)
            command = next
        }
        return (words, command.configuration.subcommands.isEmpty ? command : command.configuration.defaultSubcommand)
    }

    private static func read(_ file: String) throws -> SettingsFile {
        let bytes = try DiskFiles().read(FilePath(argument: file).followingLinks, limit: SettingsFile.limit)
        return try SettingsFile(bytes, named: file, known: all)
    }
}
