import ArgumentParser
import CommandSupport
import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords
import Terminal

/// `patchsrv dial`: slows a version down, pauses it, turns it up to its ceiling.
struct DialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dial",
        abstract: "Pauses and resumes versions and sets how many devices take them, up to the signed ceiling.",
        discussion: """
            Takes effect at once and needs no release key. A dial never adds, removes or takes back a version: a device that
            runs one that pauses keeps it, and raising a share takes it from nobody. Without an action it shows what holds.
            A version is named PATCH@VERSION or PATCH@sha256:DIGEST; PATCH alone means every version that is listed. All
            actions of one call are done together, or none is. What a new release lists no more loses its row.

            A head-count opens a version to so many devices: each asks `patchsrv serve` for a place before it takes the version,
            and who has one keeps it. So it is only raised, never lowered or removed.

            EXAMPLES
              patchsrv dial --data /srv/patchline --channel production
              patchsrv dial --data /srv/patchline --channel production --pause web@1.4.2 --reason "checkout errors"
              patchsrv dial --data /srv/patchline --channel production --resume web@1.4.2 --rollout web@1.4.2=25%
              patchsrv dial --data /srv/patchline --channel production --rollout web=50% --expect 42 --json
              patchsrv dial --data /srv/patchline --channel production --headcount web@1.4.2=500

            EXIT CODES
              0   done, or so already
              3   refused: above the signed ceiling, or not listed; nothing was changed
              8   the dial has another version than --expect says, or a head-count would be lowered; nothing was changed
            """
    )

    @OptionGroup var place: ChannelOptions

    @Option(
        help: ArgumentHelp("Devices take it no more until it is resumed; repeatable.", valueName: "patch[@version]")
    )
    var pause: [String] = []

    @Option(help: ArgumentHelp("Goes on with the share that it had; repeatable.", valueName: "patch[@version]"))
    var resume: [String] = []

    @Option(
        help: ArgumentHelp(
            "Of all devices that may take it, this share does; repeatable.",
            valueName: "patch[@version]=share"
        )
    )
    var rollout: [String] = []

    @Option(
        help: ArgumentHelp(
            "So many devices may take it, and no more; only raised; repeatable.",
            valueName: "patch@version=count"
        )
    )
    var headcount: [String] = []

    @Option(help: ArgumentHelp("Why, in one line; devices that wait for it say so.", valueName: "text"))
    var reason: String?

    @Option(help: ArgumentHelp("Refuse unless the dial still has this version.", valueName: "number"))
    var expect: Int?

    @OptionGroup var passphrase: KeyOptions

    func validate() throws {
        guard try !changes().isEmpty || (reason == nil && expect == nil) else {
            throw ValidationError("--reason and --expect go with --pause, --resume, --rollout or --headcount")
        }
    }

    func run() async throws {
        try await reporting(json: place.json) {
            let repository = try place.repository
            let changes = try changes()
            guard !changes.isEmpty else {
                let state = try repository.dial(of: place.channel)
                return show(state.hasHeadcounts ? try await place.folder.desk().counting(state) : state)
            }
            let key = try passphrase.key(at: repository.onlineKeyFile)
            let desk = try place.folder.desk(key)
            show(try await desk.turn(changes, in: place.channel, of: repository.app, expecting: expect, by: .here))
        }
    }

    private func changes() throws -> [DialChange] {
        let reason = try reason.map { text in
            guard let reason = DialReason(text) else { throw ValidationError("--reason \(DialReason.rule)") }
            return reason
        }
        return try pause.map { try Self.change(.pause, of: $0, "--pause", reason) }
            + resume.map { try Self.change(.resume, of: $0, "--resume", reason) }
            + rollout.map { text in
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, let share = Share(String(parts[1])) else {
                    throw ValidationError("--rollout must be PATCH[@VERSION]=SHARE; the share \(Share.rule)")
                }
                return try Self.change(.rollout(share.tenThousandths), of: String(parts[0]), "--rollout", reason)
            }
            + headcount.map { text in
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                // It cannot be taken back, so it is never meant for every version by accident.
                guard parts.count == 2, parts[0].contains("@"), let count = Int(parts[1]),
                    Dial.headcounts.contains(count)
                else {
                    throw ValidationError(
                        "--headcount must be PATCH@VERSION=COUNT; the count must be from 0 to "
                            + "\(Dial.headcounts.upperBound)"
                    )
                }
                return try Self.change(.headcount(count), of: String(parts[0]), "--headcount", reason)
            }
    }

    private static func change(
        _ action: DialChange.Action,
        of text: String,
        _ option: String,
        _ reason: DialReason?
    ) throws -> DialChange {
        guard let (id, subject) = DialChange.subject(text) else {
            throw ValidationError("\(option) \(DialChange.subjectRule)")
        }
        return DialChange(action, of: id, subject, reason: reason)
    }

    private func show(_ state: DialState) {
        if place.json { Console.standardOutput.line(state.json.pretty()) } else { state.write(to: .standardOutput) }
    }

    private func show(_ outcome: DialOutcome) {
        if place.json { return Console.standardOutput.line(outcome.json.pretty()) }
        switch outcome {
        case .turned(_, let roles):
            Console.standardOutput.line("turned: timestamp \(roles.timestamp), until \(roles.expires)")
        case .unchanged: Console.standardOutput.line("so already: nothing was changed")
        }
        outcome.state.write(to: .standardOutput)
    }
}

extension DialState {
    fileprivate func write(to console: Console) {
        console.line("\(app) \(channel), dial \(version)")
        let places: [Table.Column] = hasHeadcounts ? [Table.Column("places", .right)] : []
        var table = Table(
            [
                "patch", "version", Table.Column("ceiling", .right), Table.Column("dial", .right),
                Table.Column("holds", .right),
            ] + places + ["reason"]
        )
        for version in versions {
            let cells: [Table.Cell] = [
                "\(version.patchID)", "\(version.version)", "\(Share(version.ceiling))",
                version.row.map { "\(Share($0.rollout))" } ?? "-",
                version.isPaused ? Table.Cell("paused", .yellow) : "\(Share(version.effective))",
            ]
            let places: [Table.Cell] = hasHeadcounts ? [Table.Cell(version.places)] : []
            table.add(cells + places + [Table.Cell(version.row?.reason ?? "")])
        }
        table.write(to: console)
    }
}

extension DialState.Version {
    /// `2 of 500`.
    fileprivate var places: String {
        row?.headcount.map { "\(placesTaken ?? 0) of \($0)" } ?? "-"
    }
}
