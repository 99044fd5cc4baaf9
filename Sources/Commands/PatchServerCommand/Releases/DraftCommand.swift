import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords

/// `patchsrv draft`: releases that need more signatures.
struct DraftCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "draft",
        abstract: "Show and remove drafts: releases that need more signatures.",
        discussion: """
            A draft is a release with too few signatures. It is never served. The next key
            holder downloads it with `patchsign pull`; the signature that completes it
            publishes it. Each version of a channel has at most one draft: to offer
            another release in its place, remove the draft first.

            EXAMPLES
              patchsrv draft list --data /srv/patchline --channel production
              patchsrv draft show 7 --data /srv/patchline --channel production
              patchsrv draft remove 7 --data /srv/patchline --channel production
            """
                + exitCodes(
                    [
                        .refused: "no such draft, or no such channel",
                        .malformed: "the draft cannot be read (show); remove still works",
                        .busy: "another process uses the data folder (remove)",
                    ],
                    usual: .done
                ),
        subcommands: [DraftListCommand.self, DraftShowCommand.self, DraftRemoveCommand.self],
        defaultSubcommand: DraftListCommand.self
    )
}

/// The options that name one draft.
struct DraftOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The draft's number, as in `patchsrv draft`.", valueName: "version"))
    var version: Int

    @OptionGroup var place: LocalChannelOptions

    func validate() throws {
        guard (1...(1 << 53 - 1)).contains(version) else { throw ValidationError("the version must be at least 1") }
    }

    var none: Failure {
        Failure(
            "\(place.channel) has no draft \(version)",
            hint: "patchsrv draft list shows the drafts",
            code: .refused
        )
    }
}

struct DraftListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the drafts of a channel; `patchsrv list` shows those of all.",
        discussion: """
            EXAMPLES
              patchsrv draft list --data /srv/patchline --channel production
            """
    )

    @OptionGroup var place: LocalChannelOptions

    func run() async throws {
        try await place.asking { operations, app in
            let drafts = try await operations.drafts(of: place.channel, in: app)
            place.show(.fields([("drafts", .array(drafts.map(\.json)))])) { console in
                guard !drafts.isEmpty else { return console.line("no draft waits in \(place.channel)") }
                drafts.table.write(to: console)
            }
        }
    }
}

struct DraftShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the changes that a draft would publish, and its signatures.",
        discussion: """
            EXAMPLES
              patchsrv draft show 7 --data /srv/patchline --channel production
            """
    )

    @OptionGroup var one: DraftOptions

    func run() async throws {
        let place = one.place
        try await place.asking { operations, app in
            guard let draft = try await operations.draft(of: place.channel, version: one.version, in: app) else {
                throw one.none
            }
            place.show(draft.json) { console in
                for line in draft.lines { console.line(printable(line)) }
            }
        }
    }
}

struct DraftRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a draft with its signatures. Served files do not change.",
        discussion: """
            EXAMPLES
              patchsrv draft remove 7 --data /srv/patchline --channel production
            """
    )

    @OptionGroup var one: DraftOptions

    func run() async throws {
        let place = one.place
        try await place.asking { operations, app in
            guard try await RemoveDraft(of: place.channel, version: one.version, in: app, by: .here, operations).run()
            else {
                throw one.none
            }
            let removed = JSON.fields([
                ("app", .text(app.text)), ("channel", .text(place.channel.text)),
                ("roleVersion", .integer(one.version)), ("removed", .bool(true)),
            ])
            place.show(removed) { $0.line("removed the draft \(place.channel) \(one.version)") }
        }
    }
}

extension [AppListing.DraftRow] {
    var table: Table {
        var table = Table(["draft", Table.Column("release", .right), "signatures", "content", ""])
        for draft in self {
            let note = draft.identity == nil ? "cannot be read" : draft.isCurrent ? "" : "outdated"
            table.add([
                "\(draft.channel)", "\(draft.version)", "\(draft.valid) of \(draft.needed)",
                Table.Cell(draft.identity.map { String($0.hex.prefix(12)) } ?? "-"), Table.Cell(note),
            ])
        }
        return table
    }
}

extension WaitingDraft {
    var lines: [String] {
        let base = base.map { "made from release \($0)" } ?? "made as the first release"
        let suffix = row.isCurrent ? "" : ", while \(roleVersion) is current: it cannot be published"
        let by = signers.isEmpty ? "" : ", by " + signers.map { "\($0.prefix(12))…" }.joined(separator: ", ")
        return [
            "\(app) \(row.channel) \(row.version), a draft",
            base + suffix,
            "\(row.valid) of \(Words.count(row.needed, "signature"))\(by); valid until \(expires)",
        ]
            + (proposal.map { ["carries out the proposal \($0)"] } ?? [])
            + difference.map { "  " + $0 }
            + (row.isCurrent
                ? [
                    "next: patchsign pull --channel \(row.channel) --draft \(row.version), patchsign release sign, patchsign push"
                ]
                : ["next: patchsrv draft remove \(row.version) --channel \(row.channel)"])
    }
}
