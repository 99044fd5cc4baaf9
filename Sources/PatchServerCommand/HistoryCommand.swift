import ArgumentParser
import CommandSupport
import PatchFormat
import PatchServer
import PatchStore
import ReleaseService
import ServerRecords
import Terminal

/// `patchsrv history`: what was published in a channel.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows the releases of a channel, and edits what people say of them.",
        discussion: """
            EXAMPLES
              patchsrv history --app com.example.shop --channel production --data /srv/patchline
              patchsrv history --app com.example.shop --channel production --data /srv/patchline --last 200 --json
              patchsrv history edit 7 --label "spring sale" --app com.example.shop --channel production --data /srv/patchline
              patchsrv history edit 7 --no-notes --app com.example.shop --channel production --data /srv/patchline

            EXIT CODES
              3   there is no such release (edit)
              4   a label or notes break a rule (edit)
            """,
        subcommands: [HistoryList.self, HistoryEdit.self],
        defaultSubcommand: HistoryList.self
    )
}

/// One channel of one app.
struct ChannelOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The app.", valueName: "app"))
    var app: String

    @Option(help: ArgumentHelp("The channel.", valueName: "channel"))
    var channel: String

    func validate() throws {
        guard AppID(app) != nil else { throw ValidationError("--app \(AppID.rule)") }
        guard ChannelName(channel) != nil else { throw ValidationError("--channel \(ChannelName.rule)") }
    }

    var names: (app: AppID, channel: ChannelName) {
        guard let app = AppID(app), let channel = ChannelName(channel) else { preconditionFailure("validated before") }
        return (app, channel)
    }
}

struct HistoryList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Shows the releases of a channel, the newest first."
    )

    @OptionGroup var place: ChannelOptions

    @Option(help: ArgumentHelp("How many.", valueName: "count"))
    var last = 20

    @OptionGroup var folder: FolderOptions

    @Flag(help: "Print them as JSON.")
    var json = false

    func validate() throws {
        guard (1...10_000).contains(last) else { throw ValidationError("--last must be from 1 to 10000") }
    }

    func run() async throws {
        try await reporting(json: json) {
            let (app, channel) = place.names
            _ = try AppRepository(app, in: folder.folder)
            let entries = try await folder.desk()
                .history(of: channel, in: app, below: nil, limit: last).entries
            let console = Console.standardOutput
            if json {
                return console.line(JSON.fields([("releases", .array(entries.map(\.json)))]).pretty())
            }
            guard !entries.isEmpty else { return console.line("nothing was published in \(channel) yet") }
            var table = Table([Table.Column("role", .right), "published", "by", "label", "commit", "patches"])
            for entry in entries {
                table.add([
                    "\(entry.roleVersion)", "\(entry.published)", "\(printable(entry.actor.text))",
                    "\(printable(entry.notes.label ?? ""))",
                    "\(entry.notes.commit.map { String($0.prefix(12)) } ?? "")",
                    "\(entry.patches.map(\.label.description).joined(separator: ", "))",
                ])
            }
            table.write(to: console)
        }
    }
}

/// `patchsrv history edit`: another label, other notes.
struct HistoryEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Changes the label or the notes of a release; nothing that is signed changes."
    )

    @Argument(help: ArgumentHelp("Of the release: the number under `role`.", valueName: "version"))
    var version: Int

    @OptionGroup var place: ChannelOptions

    @Option(help: ArgumentHelp("One line, by which people call it.", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("Any number of lines.", valueName: "text"))
    var notes: String?

    @Flag(help: "Take the label away.")
    var noLabel = false

    @Flag(help: "Take the notes away.")
    var noNotes = false

    @OptionGroup var folder: FolderOptions

    @Flag(help: "Print the release's entry as JSON.")
    var json = false

    func validate() throws {
        guard version >= 1 else { throw ValidationError("the version must be at least 1") }
        guard label == nil || !noLabel, notes == nil || !noNotes else {
            throw ValidationError("a text and its removal cannot both be asked for")
        }
        guard label != nil || notes != nil || noLabel || noNotes else {
            throw ValidationError("one of --label, --notes, --no-label, --no-notes is needed")
        }
    }

    func run() async throws {
        try await reporting(json: json) {
            let (app, channel) = place.names
            let edit = try NotesEdit(
                Fields(
                    .fields([
                        ("label", label.map { .text($0) } ?? (noLabel ? .null : nil)),
                        ("notes", notes.map { .text($0) } ?? (noNotes ? .null : nil)),
                    ]),
                    of: "what is said"
                )
            )
            _ = try AppRepository(app, in: folder.folder)
            let entry = try await folder.desk().edit(edit, of: version, in: channel, of: app, by: .here)
            let console = Console.standardOutput
            if json { return console.line(entry.json.pretty()) }
            console.line("\(channel) \(version) is called \(printable(entry.notes.label ?? "nothing")) now")
        }
    }
}
