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
        abstract: "Shows the releases of a channel, the newest first.",
        discussion: """
            EXAMPLES
              patchsrv history --app com.example.shop --channel production --data /srv/patchline
              patchsrv history --app com.example.shop --channel production --data /srv/patchline --last 200 --json
            """
    )

    @Option(help: ArgumentHelp("The app.", valueName: "app"))
    var app: String

    @Option(help: ArgumentHelp("The channel.", valueName: "channel"))
    var channel: String

    @Option(help: ArgumentHelp("How many.", valueName: "count"))
    var last = 20

    @OptionGroup var folder: FolderOptions

    @Flag(help: "Print them as JSON.")
    var json = false

    func validate() throws {
        guard AppID(app) != nil else { throw ValidationError("--app \(AppID.rule)") }
        guard ChannelName(channel) != nil else { throw ValidationError("--channel \(ChannelName.rule)") }
        guard (1...10_000).contains(last) else { throw ValidationError("--last must be from 1 to 10000") }
    }

    func run() async throws {
        try await reporting(json: json) {
            guard let app = AppID(app), let channel = ChannelName(channel) else { return }
            _ = try AppRepository(app, in: folder.folder)
            let entries = try await folder.desk { _ in nil }.history(of: channel, in: app, below: nil, limit: last)
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
