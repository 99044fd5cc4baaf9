import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import ReleaseClient
import PatchStore
import SystemPackage

/// `patchsrv parameters`: named values for apps, which take effect without a release.
struct ParametersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parameters",
        abstract: "Show and change the online parameters of a channel.",
        discussion: """
            Values by name that running apps read: text, integers, true and false. A
            change needs no release key and affects neither versions nor the dial. Devices
            see it at their next sync, or within half an hour while the app runs. All
            changes of a call succeed together or fail together.

            EXAMPLES
              patchsrv parameters show --data /srv/patchline --channel production
              patchsrv parameters set --data /srv/patchline --channel production banner="Sale until 8 pm" cart.limit=20
              patchsrv parameters set --data /srv/patchline --channel production checkout=false zip='"01234"'
              patchsrv parameters unset --data /srv/patchline --channel production banner
              patchsrv parameters replace parameters.json --data /srv/patchline --channel production --expect 3f0a…
            """
                + exitCodes([
                    .done: "done, or already set",
                    .refused: "refused: the channel has no release, or there would be too many; nothing was changed",
                    .malformed: "the file is malformed",
                    .network: "the server of --server is unreachable or unavailable",
                    .conflict: "the parameters' tag differs from --expect; nothing was changed",
                ]),
        subcommands: [
            ParametersShowCommand.self, ParametersSetCommand.self, ParametersUnsetCommand.self,
            ParametersReplaceCommand.self,
        ]
    )
}

struct ParametersShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the parameters and their tag.",
        discussion: """
            EXAMPLES
              patchsrv parameters show --data /srv/patchline --channel production
            """
    )

    @OptionGroup var place: ChannelOptions

    func run() async throws {
        try await reporting(json: place.json) {
            let answer = try await place.answer {
                try place.repository.parameters(of: place.channel).json
            } there: { service, path in
                try await service.look("\(path)/parameters")
            }
            place.show(answer) { answer.writeParameters(to: $0) }
        }
    }
}

struct ParametersSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set these parameters, and keep the others.",
        discussion: """
            A value is read as JSON if it is true, false, an integer or text in quotes.
            Any other value is plain text.

            EXAMPLES
              patchsrv parameters set --data /srv/patchline --channel production banner="Sale until 8 pm" cart.limit=20
            """
    )

    @Argument(help: ArgumentHelp("A name and its new value.", valueName: "name=value"))
    var values: [String]

    @OptionGroup var options: ParametersChangeOptions

    func validate() throws { _ = try changes() }

    func run() async throws {
        try await reporting(json: options.place.json) { try await options.carryOut(.set(try changes())) }
    }

    private func changes() throws -> [ParameterName: ParameterValue] {
        var changes: [ParameterName: ParameterValue] = [:]
        for text in values {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw ValidationError("'\(text)' must be NAME=VALUE") }
            let name = try ParameterName(argument: String(parts[0]))
            guard let value = ParameterValue(argument: String(parts[1])) else {
                throw ValidationError("\(name) \(ParameterValue.rule)")
            }
            guard changes.updateValue(value, forKey: name) == nil else {
                throw ValidationError("\(name) is given twice")
            }
        }
        return changes
    }
}

struct ParametersUnsetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unset",
        abstract: "Remove these parameters. Unknown names are ignored.",
        discussion: """
            EXAMPLES
              patchsrv parameters unset --data /srv/patchline --channel production banner
            """
    )

    @Argument(help: ArgumentHelp("A name to remove.", valueName: "name"))
    var names: [String]

    @OptionGroup var options: ParametersChangeOptions

    func validate() throws { for name in names { _ = try ParameterName(argument: name) } }

    func run() async throws {
        try await reporting(json: options.place.json) {
            let names = try names.map { try ParameterName(argument: $0) }
            try await options.carryOut(.unset(Set(names)))
        }
    }
}

struct ParametersReplaceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replace",
        abstract: "Set the parameters of a file, and remove all others.",
        discussion: """
            The file is a JSON object of names and values: {"banner": "Sale",
            "cart.limit": 20, "checkout": true}. An empty object removes all parameters.

            EXAMPLES
              patchsrv parameters replace parameters.json --data /srv/patchline --channel production
            """
    )

    @Argument(help: ArgumentHelp("A JSON object of names and values.", valueName: "file"))
    var file: String

    @OptionGroup var options: ParametersChangeOptions

    func run() async throws {
        try await reporting(json: options.place.json) {
            let bytes = try DiskFiles().read(FilePath(argument: file), limit: Limits.parameters)
            let values = try JSON.document(bytes, named: file, limit: Limits.parameters)
            try await options.carryOut(.replace(try [ParameterName: ParameterValue](values, of: file)))
        }
    }
}

extension ParameterName {
    fileprivate init(argument text: String) throws {
        guard let name = ParameterName(text) else {
            throw ValidationError("the name '\(text)' \(ParameterName.rule)")
        }
        self = name
    }
}

extension ParameterValue {
    /// Parses a JSON value, or uses the argument as text.
    ///
    /// Nil if it is too long or an invalid quoted string.
    fileprivate init?(argument text: String) {
        if let json = try? JSON(parsing: Array(text.utf8)), let value = ParameterValue(json) {
            self = value
            return
        }
        guard !text.hasPrefix("\""), let value = ParameterValue(.text(text)) else { return nil }
        self = value
    }
}
