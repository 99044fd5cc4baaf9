import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer

/// `patchsrv dial`: limits, pauses and raises the share of a version up to its signed ceiling.
struct DialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dial",
        abstract: "Pause and resume versions, and set their shares and head-counts up to the signed ceiling.",
        discussion: """
            For daily use there is `patchsrv rollout`: one version, one share. This
            command combines several actions and sets head-counts.

            Takes effect at once and needs no release key. A dial never adds, removes or
            rolls back a version: devices that run a paused version keep it, and raising a
            share takes it from none. Without an action, shows the settings. Name a
            version as PATCH@VERSION or PATCH@sha256:DIGEST; PATCH alone means all its
            listed versions. All actions of a call succeed together or fail together.
            Versions that a release no longer lists are removed from the dial.

            A head-count limits the number of devices that install a version. Each asks
            `patchsrv serve` for a place before it installs the version, and keeps the
            place. A head-count can only be raised.

            EXAMPLES
              patchsrv dial --data /srv/patchline --channel production
              patchsrv dial --data /srv/patchline --channel production --pause web@1.4.2 --reason "checkout errors"
              patchsrv dial --data /srv/patchline --channel production --resume web@1.4.2 --rollout web@1.4.2=25%
              patchsrv dial --data /srv/patchline --channel production --rollout web=50% --expect 42 --json
              patchsrv dial --data /srv/patchline --channel production --headcount web@1.4.2=500
              patchsrv dial --server https://patches.example.com --token-file ops.token --channel production --pause web
            """
                + exitCodes(
                    [
                        .done: "done, or already set",
                        .usage: KeyOptions.noTerminal,
                        .refused:
                            "refused: above the signed ceiling, not listed, or the token lacks the role; nothing was changed",
                        .network: "the server of --server is unreachable or unavailable",
                        .busy: "another process uses the data folder",
                        .conflict:
                            "the dial's version differs from --expect, or a head-count would be lowered; nothing was changed",
                    ],
                    usual: .malformed,
                    .disk
                )
    )

    @OptionGroup var place: ChannelOptions

    @Option(
        help: ArgumentHelp("Stop further installs until it is resumed. Repeatable.", valueName: "patch[@version]")
    )
    var pause: [String] = []

    @Option(
        help: ArgumentHelp(
            "Allow installs again, with the earlier share. Repeatable.",
            valueName: "patch[@version]"
        )
    )
    var resume: [String] = []

    @Option(
        help: ArgumentHelp(
            "Share of the eligible devices that install it. Repeatable.",
            valueName: "patch[@version]=share"
        )
    )
    var rollout: [String] = []

    @Option(
        help: ArgumentHelp(
            "Maximum number of devices that install it; can only be raised. Repeatable.",
            valueName: "patch@version=count"
        )
    )
    var headcount: [String] = []

    @Option(help: ArgumentHelp("The reason, in one line. Waiting devices show it.", valueName: "text"))
    var reason: String?

    @Option(help: ArgumentHelp("Fail unless the dial still has this version.", valueName: "number"))
    var expect: Int?

    @OptionGroup var passphrase: KeyOptions

    func validate() throws {
        guard try !changes().isEmpty || (reason == nil && expect == nil) else {
            throw ValidationError("--reason and --expect need --pause, --resume, --rollout or --headcount")
        }
    }

    func run() async throws {
        try await reporting(json: place.json) {
            let changes = try changes()
            let answer = try await place.dial(DialRequest(changes, reason: reason, expect: expect), passphrase)
            place.show(answer) { answer.writeDial(to: $0) }
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
                guard parts.count == 2 else { throw ValidationError("--rollout must be PATCH[@VERSION]=SHARE") }
                let share: RolloutShare
                do throws(RolloutShareMisread) { share = try RolloutShare(written: String(parts[1])) } catch {
                    throw ValidationError("--rollout \(error)")
                }
                return try Self.change(.rollout(share.tenThousandths), of: String(parts[0]), "--rollout", reason)
            }
            + headcount.map { text in
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                // A head-count cannot be removed again, so it must name one version.
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
}

extension JSON {
    /// Writes a channel's dial, after the outcome of a change.
    func writeDial(to console: Console) {
        switch words("outcome") {
        case "turned": console.line("dial updated (timestamp \(words("timestamp")), until \(words("expires")))")
        case "unchanged": console.line("already set; nothing was changed")
        default: break
        }
        console.line("\(words("app")) \(words("channel")), dial \(words("dialVersion"))")
        let versions = items("versions")
        let hasHeadcounts = versions.contains { $0["headcount"] != nil }
        let places: [Table.Column] = hasHeadcounts ? [Table.Column("places", .right)] : []
        var table = Table(
            [
                "patch", "version", Table.Column("ceiling", .right), Table.Column("dial", .right),
                Table.Column("effective", .right),
            ] + places + ["reason"]
        )
        for version in versions {
            let cells: [Table.Cell] = [
                Table.Cell(version.words("patchId")), Table.Cell(version.words("version")),
                Table.Cell(version.share("ceiling")), Table.Cell(version.dialShare),
                version.isTrue("paused") ? Table.Cell("paused", .yellow) : Table.Cell(version.share("effective")),
            ]
            let places: [Table.Cell] = hasHeadcounts ? [Table.Cell(version.places)] : []
            table.add(cells + places + [Table.Cell(version.words("reason"))])
        }
        table.write(to: console)
        for version in versions {
            let lines = version.items("closedFor").map { line in
                if case .string(let text) = line { printable(text.text) } else { "-" }
            }
            guard !lines.isEmpty else { continue }
            let name = "\(version.words("patchId")) \(version.words("version"))"
            let apps = lines.joined(separator: ", ")
            console.line("\(name) has a head-count: apps of \(apps) do not get it, because they cannot be counted")
        }
        for schedule in items("schedules") {
            let name = "\(schedule.words("patchId")) \(schedule.words("version"))"
            console.line("schedule: \(name): \(schedule.words("words"))")
        }
        if let share = number("default") {
            console.line("new versions begin at \(RolloutShare(share)), unless a publish sets another share")
        }
        for line in self["gateways"]?.gatewayLines(words("channel")) ?? [] { console.line(line) }
    }

    private func share(_ key: String) -> String { number(key).map { "\(RolloutShare($0))" } ?? "-" }

    /// The dial's share.
    ///
    /// A row for all devices, for example after a pause, restricts nothing and is shown as `-`.
    private var dialShare: String { number("rollout") == 10_000 ? "-" : share("rollout") }

    /// The used places: `2 of 500`.
    private var places: String {
        number("headcount").map { "\(number("places") ?? 0) of \($0)" } ?? "-"
    }
}
