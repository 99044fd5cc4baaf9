import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords

/// `patchsrv proposal`: changes that need a key holder.
struct ProposalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proposal",
        abstract: "Show and withdraw proposed changes.",
        discussion: """
            A proposal is an instruction without files. `patchsign propose` creates it,
            `patchsign pull --proposal ID` makes the release from the published state, and
            publishing that release marks the proposal as done. Done proposals stay in the
            list.

            EXAMPLES
              patchsrv proposal list --data /srv/patchline --channel production
              patchsrv proposal list --data /srv/patchline --channel production --all --json
              patchsrv proposal show 0123456789abcdef --data /srv/patchline --channel production
              patchsrv proposal remove 0123456789abcdef --data /srv/patchline --channel production
            """
                + exitCodes(
                    [
                        .refused: "no such proposal, or no such channel",
                        .busy: "another process uses the records (remove)",
                        .conflict: "the proposal was published (remove)",
                    ],
                    usual: .done
                ),
        subcommands: [ProposalListCommand.self, ProposalShowCommand.self, ProposalRemoveCommand.self],
        defaultSubcommand: ProposalListCommand.self
    )
}

/// The options that name one proposal.
struct ProposalOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The proposal's id.", valueName: "id"),
        transform: parsed
    )
    var id: ProposalID

    @OptionGroup var place: LocalChannelOptions
}

struct ProposalListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the open proposals of a channel, the oldest first.",
        discussion: """
            EXAMPLES
              patchsrv proposal list --data /srv/patchline --channel production
            """
    )

    @OptionGroup var place: LocalChannelOptions

    @Flag(help: "Also list published proposals.")
    var all = false

    func run() async throws {
        try await place.asking { operations, app in
            let proposals = try await Proposals(operations).all(of: place.channel, in: app)
                .filter { all || $0.state == .open }
            place.show(.fields([("proposals", .array(proposals.map(\.json)))])) { console in
                guard !proposals.isEmpty else { return console.line("no proposal waits in \(place.channel)") }
                var table = Table(["id", "proposed", "by", "state", "change"])
                for proposal in proposals {
                    table.add([
                        "\(proposal.id)", "\(proposal.created)", Table.Cell(proposal.actor.text),
                        Table.Cell(proposal.stateWords), Table.Cell(proposal.words),
                    ])
                }
                table.write(to: console)
            }
        }
    }
}

struct ProposalShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a proposal's changes, as of its creation.",
        discussion: """
            EXAMPLES
              patchsrv proposal show 0123456789abcdef --data /srv/patchline --channel production
            """
    )

    @OptionGroup var one: ProposalOptions

    func run() async throws {
        let place = one.place
        try await place.asking { operations, app in
            let proposal = try await Proposals(operations).proposal(one.id, of: place.channel, in: app)
            place.show(proposal.json) { console in
                for line in proposal.lines { console.line(printable(line)) }
            }
        }
    }
}

struct ProposalRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Withdraw an unpublished proposal.",
        discussion: """
            EXAMPLES
              patchsrv proposal remove 0123456789abcdef --data /srv/patchline --channel production
            """
    )

    @OptionGroup var one: ProposalOptions

    func run() async throws {
        let place = one.place
        try await place.asking { operations, app in
            let proposal = try await Proposals(operations).proposal(one.id, of: place.channel, in: app)
            try await Proposals(operations).remove(one.id, of: place.channel, in: app, by: .here)
            place.show(proposal.json) { $0.line("withdrew \(one.id): \(printable(proposal.words))") }
        }
    }
}

extension Proposal {
    fileprivate var words: String { change.words(channel: channel) + (note.map { " (\($0))" } ?? "") }

    fileprivate var stateWords: String {
        switch state {
        case .open: "open"
        case .done(let version, _): "published as \(version)"
        case .overtaken(let version, _): "overtaken by \(version)"
        }
    }

    var lines: [String] {
        let suffix = roleVersion == 0 ? "before the first release" : "when release \(roleVersion) was current"
        let ending =
            switch state {
            case .open: "next: patchsign pull --proposal \(id) --channel \(channel)"
            case .done(let version, let time): "published as \(channel) \(version) at \(time)"
            case .overtaken(let version, let time):
                "overtaken by \(channel) \(version) at \(time), which lists its version no more"
            }
        return ["\(id): \(words)", "proposed by \(actor.text) at \(created), \(suffix)"]
            + difference.map { "  " + $0 } + [ending]
    }
}
