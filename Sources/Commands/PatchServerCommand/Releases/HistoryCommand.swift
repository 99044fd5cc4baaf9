import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import ReleaseClient
import ReleaseService
import ServerRecords

/// `patchsrv history`: the releases published in a channel.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show the releases of a channel, and edit their labels and notes.",
        discussion: """
            EXAMPLES
              patchsrv history --data /srv/patchline --channel production
              patchsrv history --data /srv/patchline --channel production --last 200 --json
              patchsrv history show 7 --data /srv/patchline --channel production
              patchsrv history edit 7 --label "spring sale" --data /srv/patchline --channel production
              patchsrv history edit 7 --no-notes --data /srv/patchline --channel production
            """
                + exitCodes(
                    [
                        .refused: "no such channel, or no such release (show, edit)",
                        .malformed: "a label or notes break a rule (edit), or a record is damaged",
                        .network: "the server of --server is unreachable or unavailable",
                        .disk: "there is no app in the folder, or a file could not be read or written",
                        .conflict: "another edit was made at the same time (edit)",
                    ],
                    usual: .done
                ),
        subcommands: [HistoryListCommand.self, HistoryShowCommand.self, HistoryEditCommand.self],
        defaultSubcommand: HistoryListCommand.self
    )
}

struct HistoryListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the releases of a channel, the newest first.",
        discussion: """
            EXAMPLES
              patchsrv history list --data /srv/patchline --channel production --last 200
            """
    )

    @OptionGroup var place: ChannelOptions

    @Option(help: ArgumentHelp("Number of releases.", valueName: "count"))
    var last = 20

    func validate() throws {
        guard (1...10_000).contains(last) else { throw ValidationError("--last must be from 1 to 10000") }
    }

    func run() async throws {
        try await reporting(json: place.json) {
            let history = try await place.answer {
                let app = try place.repositoryOfAnyChannel.app
                let entries = try await History(place.folder.operations())
                    .page(of: place.channel, in: app, below: nil, limit: last).entries
                if entries.isEmpty { _ = try place.repository }
                return .fields([("releases", .array(entries.map(\.json)))])
            } there: { service, path in
                var (releases, below): ([JSON], Int?) = ([], nil)
                repeat {
                    let limit = min(500, last - releases.count)
                    let place = below.map { "&below=\($0)" } ?? ""
                    let page = try await service.look("\(path)/history?limit=\(limit)\(place)")
                    releases += page.items("releases")
                    below = page.number("next")
                } while below != nil && releases.count < last
                return .fields([("releases", .array(releases))])
            }
            let releases = history.items("releases")
            place.show(history) { console in
                guard !releases.isEmpty else { return console.line("nothing was published in \(place.channel) yet") }
                Self.table(of: releases).write(to: console)
            }
        }
    }

    static func table(of releases: [JSON]) -> Table {
        var table = Table([
            Table.Column("release", .right), "published", "by", "label", "commit", "patches", "notes",
        ])
        for release in releases {
            let patches = release.items("patches").map { "\($0.words("patchId")) \($0.words("version"))" }
            table.add([
                Table.Cell(release.words("roleVersion")), Table.Cell(release.words("published")),
                Table.Cell(release["by"]?.actor ?? ""), Table.Cell(release.words("label")),
                Table.Cell(String(release.words("commit").prefix(12))),
                Table.Cell(patches.joined(separator: ", ")),
                Table.Cell(release.firstLine(of: "notes")),
            ])
        }
        return table
    }
}

/// `patchsrv history show`: one release, with its notes and its difference to the previous one.
struct HistoryShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one release: notes, versions, sizes, and changes since the previous release.",
        discussion: """
            EXAMPLES
              patchsrv history show 7 --data /srv/patchline --channel production
              patchsrv history show 7 --server https://patches.example.com --token-file ops.token --channel production
            """
    )

    @Argument(help: ArgumentHelp("The release's number, as in `patchsrv history`.", valueName: "version"))
    var version: Int

    @OptionGroup var place: ChannelOptions

    func validate() throws {
        guard (1...(1 << 53 - 1)).contains(version) else {
            throw ValidationError("the version must be from 1 to 9007199254740991")
        }
    }

    func run() async throws {
        try await reporting(json: place.json) {
            let release = try await place.answer {
                let app = try place.repositoryOfAnyChannel.app
                return try await History(place.folder.operations()).release(version, of: place.channel, in: app).json
            } there: { service, path in
                try await service.look("\(path)/history/\(version)")
            }
            place.show(release) { release.writeRelease(to: $0) }
        }
    }
}

extension JSON {
    /// The first line of a text.
    ///
    /// `…` marks further lines.
    fileprivate func firstLine(of key: String) -> String {
        guard case .string(let text)? = self[key] else { return "" }
        let lines = text.text.split(separator: "\n")
        return printable(String(lines.first ?? "")) + (lines.count > 1 ? " …" : "")
    }

    /// A release as `history show` prints it.
    func writeRelease(to console: Console) {
        console.line(
            console.styled("\(words("channel")) \(words("roleVersion"))", .bold)
                + ", published \(words("published")) by \(self["by"]?.actor ?? "")"
        )
        for key in ["label", "author", "commit", "proposal"] where !words(key).isEmpty {
            console.line("\(key): \(words(key))")
        }
        if case .string(let notes)? = self["notes"] {
            console.line("notes:")
            for line in notes.text.split(separator: "\n", omittingEmptySubsequences: false) {
                console.line("  \(printable(String(line)))")
            }
        }
        console.line()
        writeVersions(to: console)
        console.line()
        writeDifference(to: console)
    }

    private func writeVersions(to console: Console) {
        guard !items("patches").isEmpty else { return console.line("it lists nothing") }
        var table = Table([
            "patch", "version", "kind", "rollout", Table.Column("size", .right), Table.Column("files", .right),
            "sha256",
        ])
        for patch in items("patches") {
            table.add([
                Table.Cell(patch.words("patchId")), Table.Cell(patch.words("version")), Table.Cell(patch.words("kind")),
                Table.Cell(patch.number("rollout").map { "\(RolloutShare($0))" } ?? ""),
                Table.Cell(patch.number("size").map { "\(ByteText($0))" } ?? ""), Table.Cell(patch.words("files")),
                Table.Cell(patch.words("sha256")),
            ])
        }
        table.write(to: console)
    }

    private func writeDifference(to console: Console) {
        let difference = self["difference"] ?? .null
        func name(_ label: JSON) -> String { "\(label.words("patchId")) \(label.words("version"))" }
        func share(_ change: JSON, _ key: String) -> String {
            change.number(key).map { "\(RolloutShare($0))" } ?? "?"
        }
        let lines =
            difference.items("added").map { "  + \(name($0))" } + difference.items("removed").map { "  - \(name($0))" }
            + difference.items("rollout").map { "  ~ \(name($0)): \(share($0, "from")) → \(share($0, "to"))" }
            + difference.items("withdrawn").map { "  \(name($0)) is withdrawn for good" }
        let previous = words("previous")
        console.line(
            previous.isEmpty ? "the first release of the channel in the history" : "difference to release \(previous):"
        )
        for line in lines { console.line(line) }
        if lines.isEmpty { console.line("  the same versions and shares") }
    }
}

/// `patchsrv history edit`: changes a label or notes.
struct HistoryEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the label or the notes of a release. Signed files do not change.",
        discussion: """
            EXAMPLES
              patchsrv history edit 7 --label "spring sale" --data /srv/patchline --channel production
            """
    )

    @Argument(help: ArgumentHelp("The release's number, as in `patchsrv history`.", valueName: "version"))
    var version: Int

    @OptionGroup var place: ChannelOptions

    @Option(help: ArgumentHelp("A name for the release, in one line.", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("Notes, any number of lines.", valueName: "text"))
    var notes: String?

    @Flag(help: "Remove the label.")
    var noLabel = false

    @Flag(help: "Remove the notes.")
    var noNotes = false

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
        try await reporting(json: place.json) {
            let members = JSON.fields([
                ("label", label.map { .text($0) } ?? (noLabel ? .null : nil)),
                ("notes", notes.map { .text($0) } ?? (noNotes ? .null : nil)),
            ])
            let edit = try NotesEdit(Fields(members, of: "the edit"))
            let entry = try await place.answer {
                let app = try place.repositoryOfAnyChannel.app
                return try await History(place.folder.operations())
                    .edit(edit, of: version, in: place.channel, of: app, by: .here).json
            } there: { service, path in
                try await service.change(.patch, "\(path)/history/\(version)", members)
            }
            let label = entry.words("label")
            place.show(entry) {
                $0.line("\(place.channel) \(version) is called \(label.isEmpty ? "nothing" : label) now")
            }
        }
    }
}
