import ArgumentParser
import CommandSupport
import PatchServer
import PatchStore
import SystemPackage
import Terminal

/// What every command takes from the environment and from the file of `--config`, where its command line leaves it open.
///
/// One file does for all: each command takes of it what it has an option for.
enum CommandSettings {
    /// Everything that may stand in the file.
    private static let all =
        ServeSettings.all + [
            Setting("server", alternative: "place"), Setting("token-file"), Setting("ca"),
        ]

    private static let signing = ["passphrase-file", "passphrase-env"]
    private static let place = ["data", "server", "token-file", "ca"]

    /// By what is typed before the options.
    private static func names(of command: String) -> [String] {
        switch command {
        case "serve": ServeSettings.all.map(\.name)
        case "doctor": ["data", "host", "port", "tls-certificate", "tls-key", "tls-passphrase-file"] + signing
        case "init", "publish", "trust", "refresh", "export", "restore": ["data"] + signing
        case "dial", "parameters set", "parameters unset", "parameters replace": place + signing
        case "parameters show", "answer set", "answer list", "answer remove", "audit list", "audit export",
            "audit verify",
            "token new", "token list", "token revoke", "history", "history list", "history edit":
            place
        default: ["data"]
        }
    }

    /// The command line with what the environment and the file add to it; nil when it only asks for the configuration,
    /// which was printed.
    static func expanded(_ arguments: [String]) throws -> [String]? {
        let words = words(of: arguments)
        guard !words.isEmpty, Set(arguments).isDisjoint(with: ["-h", "--help", "-help"]) else { return arguments }
        let command = words.joined(separator: " ")
        let given = Array(arguments.dropFirst(words.count))
        let file = ResolvedSettings.options(in: given)["config"] ?? Surroundings.environment("PATCHSRV_CONFIG")
        let names = Set(names(of: command))
        do {
            let settings = try ResolvedSettings(
                all.filter { names.contains($0.name) },
                arguments: given,
                environment: Surroundings.environment,
                file: try file.map(read)
            )
            if command == "serve", given.contains("--print-config") {
                Console.standardOutput.write(settings.text)
                return nil
            }
            return words + settings.addedArguments + given
        } catch let error as SettingsError { throw Failure(error) }
    }

    /// The names of the command and of what is below it; none where no command is whole, which says itself what it lacks.
    private static func words(of arguments: [String]) -> [String] {
        var command: any ParsableCommand.Type = PatchServerCommand.self
        var words: [String] = []
        for argument in arguments {
            let below = command.configuration.subcommands
            guard let next = below.first(where: { $0.configuration.commandName == argument }) else { break }
            words.append(argument)
            command = next
        }
        let isWhole = command.configuration.subcommands.isEmpty || command.configuration.defaultSubcommand != nil
        return isWhole ? words : []
    }

    private static func read(_ file: String) throws -> SettingsFile {
        let bytes = try DiskFiles().read(FilePath(argument: file).followingLinks, limit: SettingsFile.limit)
        return try SettingsFile(bytes, named: file, known: all)
    }
}
