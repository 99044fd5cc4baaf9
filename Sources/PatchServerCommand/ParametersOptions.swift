import ArgumentParser
import CommandSupport
import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords
import Terminal

/// Which parameters, and how they are printed.
struct ParametersOptions: ParsableArguments {
    @OptionGroup var folder: FolderOptions

    @Option(help: ArgumentHelp("The app; needed where the server has several.", valueName: "app"))
    var app: String?

    @Option(
        help: ArgumentHelp("The channel.", valueName: "channel"),
        transform: { text in
            guard let channel = ChannelName(text) else { throw ValidationError("--channel \(ChannelName.rule)") }
            return channel
        }
    )
    var channel: ChannelName

    @Flag(help: "Print the state as JSON.")
    var json = false

    var repository: AppRepository {
        get throws { try AppRepository(try folder.app(named: app), in: folder.folder) }
    }

    func show(_ state: ParametersState) {
        if json { Console.standardOutput.line(state.json.pretty()) } else { state.write(to: .standardOutput) }
    }
}

/// How a change is made.
struct ParametersChangeOptions: ParsableArguments {
    @OptionGroup var of: ParametersOptions

    @Option(
        help: ArgumentHelp("Refuse unless the parameters still have this tag.", valueName: "tag"),
        transform: { text in
            guard let tag = SHA256Digest(hex: text) else {
                throw ValidationError("--expect must be the tag that `patchsrv parameters show` says")
            }
            return tag
        }
    )
    var expect: SHA256Digest?

    @OptionGroup var passphrase: KeyOptions

    func carryOut(_ change: ParametersChange) async throws {
        let repository = try of.repository
        let key = try passphrase.key(at: repository.onlineKeyFile)
        let desk = try of.folder.desk(key)
        let outcome = try await desk.change(
            change,
            in: of.channel,
            of: repository.app,
            expecting: expect,
            by: .here
        )
        if of.json { return Console.standardOutput.line(outcome.json.pretty()) }
        switch outcome {
        case .changed(_, _, let roles):
            Console.standardOutput.line("changed: timestamp \(roles.timestamp), until \(roles.expires)")
        case .unchanged: Console.standardOutput.line("so already: nothing was changed")
        }
        outcome.state.write(to: .standardOutput)
    }
}

extension ParametersState {
    fileprivate func write(to console: Console) {
        console.line("\(parameters.app) \(parameters.channel), tag \(tag)")
        guard !parameters.values.isEmpty else { return console.line("no parameters") }
        var table = Table(["name", "type", "value"])
        for (name, value) in parameters.values.sorted(by: { $0.key < $1.key }) {
            table.add(["\(name)", Table.Cell(value.typeName), Table.Cell(printable(value.words))])
        }
        table.write(to: console)
    }
}
