import ArgumentParser
import CommandSupport
import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords
import Terminal

/// How a change is made.
struct ParametersChangeOptions: ParsableArguments {
    @OptionGroup var place: ChannelOptions

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
        let repository = try place.repository
        let key = try passphrase.key(at: repository.onlineKeyFile)
        let desk = try place.folder.desk(key)
        let outcome = try await desk.change(
            change,
            in: place.channel,
            of: repository.app,
            expecting: expect,
            by: .here
        )
        if place.json { return Console.standardOutput.line(outcome.json.pretty()) }
        switch outcome {
        case .changed(_, _, let roles):
            Console.standardOutput.line("changed: timestamp \(roles.timestamp), until \(roles.expires)")
        case .unchanged: Console.standardOutput.line("so already: nothing was changed")
        }
        outcome.state.write(to: .standardOutput)
    }
}

extension ParametersState {
    func write(to console: Console) {
        console.line("\(parameters.app) \(parameters.channel), tag \(tag)")
        guard !parameters.values.isEmpty else { return console.line("no parameters") }
        var table = Table(["name", "type", "value"])
        for (name, value) in parameters.values.sorted(by: { $0.key < $1.key }) {
            table.add(["\(name)", Table.Cell(value.typeName), Table.Cell(printable(value.words))])
        }
        table.write(to: console)
    }
}
