import ArgumentParser
import CommandKit
import PatchFormat
import PatchStore
import ReleaseClient
import SystemPackage

/// `patchsign propose`: proposes a change that another user will sign.
struct ProposeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "propose",
        abstract: "Propose a change of a channel, for a key holder to make and sign.",
        discussion: """
            A file of rules is JSON: {"patchId": "web", "version": "2.0.0", "rollout": 5000, "condition": null}. A
            null removes a rule; omitted rules do not change.

            No key is needed. The command prints the proposal's id for `patchsign pull --proposal ID`, which makes the
            release on the key holder's machine, shows its changes and asks.

            EXAMPLES
              patchsign propose --channel production --promote-from beta --server https://patches.example.com
              patchsign propose --channel production --promote-from beta --rollout web=10% --server https://patches.example.com
              patchsign propose --app com.example.shop --channel production --roll-back-to 7 --server https://patches.example.com
              patchsign propose --channel production --withdraw web@2.0.0 --server https://patches.example.com
              patchsign propose --channel production --rules rules.json --server https://patches.example.com
            """
                + exitCodes(
                    [
                        .done: "proposed",
                        .malformed: "the file of rules is malformed",
                        .network: "no connection, or a server error",
                        .conflict: "too many proposals wait",
                    ],
                    usual: .refused,
                    .disk
                )
    )

    @Option(
        help: ArgumentHelp("The app. Required if the token gives access to several.", valueName: "app"),
        transform: parsed
    )
    var app: AppID?

    @Option(help: ArgumentHelp("The channel to change.", valueName: "name"), transform: parsed)
    var channel: ChannelName

    @Option(help: ArgumentHelp("List the versions of this channel.", valueName: "name"), transform: parsed)
    var promoteFrom: ChannelName?

    @Option(help: PromotedShare.help, transform: PromotedShare.init(_:))
    var rollout: [PromotedShare] = []

    @Option(help: ArgumentHelp("List the versions of this earlier release again.", valueName: "version"))
    var rollBackTo: Int?

    @Option(
        help: ArgumentHelp("Stop listing a patch, or one version of it.", valueName: "patch[@version]"),
        transform: PatchReference.init(parsing:)
    )
    var withdraw: PatchReference?

    @Option(help: ArgumentHelp("A JSON file with new rules of a version.", valueName: "file"))
    var rules: String?

    @Option(help: ArgumentHelp("The reason, in one line.", valueName: "text"))
    var note: String?

    @OptionGroup(title: "Server") var server: ServerOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        let given = [promoteFrom != nil, rollBackTo != nil, withdraw != nil, rules != nil].count { $0 }
        guard given == 1 else {
            throw ValidationError("one of --promote-from, --roll-back-to, --withdraw and --rules is needed")
        }
        if !rollout.isEmpty, promoteFrom == nil { throw ValidationError("--rollout needs --promote-from") }
    }

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let change = try change()
            let made = try await server.asking { client throws(ServiceError) in
                let app: AppID
                if let named = self.app { app = named } else { app = try await client.onlyApp() }
                return try await client.propose(change, note: note, of: channel, in: app)
            }
            let console = Console.standardOutput
            if json { return console.line(made.answer.pretty()) }
            console.line(made.id.text)
            for line in made.difference { Console.standardError.line("  " + printable(line)) }
        }
    }

    private func change() throws(Failure) -> ProposedChange {
        if let promoteFrom { return try .promotion(from: promoteFrom, rollout) }
        let fields = try members()
        do throws(FormatError) { return try ProposedChange(Fields(fields, of: "the proposal")) } catch {
            throw Failure(error.description, code: .malformed)
        }
    }

    private func members() throws(Failure) -> JSON {
        if let rollBackTo { return .fields([("action", .text("rollback")), ("to", .integer(rollBackTo))]) }
        if let withdraw {
            return .fields([
                ("action", .text("withdraw")), ("patchId", .text(withdraw.patchID.text)),
                ("version", withdraw.version.map { .text($0.text) }),
            ])
        }
        let path = FilePath(argument: rules ?? "")
        let bytes: [UInt8]
        do throws(FileError) { bytes = try DiskFiles().read(path, limit: Limits.stateFile) } catch {
            throw Failure(error.description, code: .disk)
        }
        do throws(FormatError) {
            let fields = try Fields(JSON.document(bytes, named: path.string, limit: Limits.stateFile), of: path.string)
            var object = fields.object
            object["action"] = .text("rules")
            return .object(object)
        } catch { throw Failure(error.description, code: .malformed) }
    }
}
