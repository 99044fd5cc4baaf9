import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// `patchsign status`: shows the roles that must be signed again, and when.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show when root, targets and releases expire, and which keys are here. For cron.",
        discussion: """
            In a crontab, which mails failures:
              0 8 * * 1  patchsign status --keys /srv/keys /srv/releases/production --within 30d

            Private keys stay closed. A key is here if its private half, or the description of an external signer, is
            in the folder. Missing keys do not change the exit code: root and targets keys belong elsewhere.

            A release is checked against the present targets.json. It is `incomplete` if it has too few signatures of
            keys that may still sign. After an expiry, devices install nothing new and keep their active versions.

            EXAMPLES
              patchsign status --keys Keys
              patchsign status --keys Keys v2.release beta7.release --within 30d
            """
                + exitCodes(
                    [
                        .done: "everything is valid for longer",
                        .refused: "root.json, targets.json or a release is not valid, or a release is incomplete",
                        .due: "something has expired, or expires within the time",
                    ],
                    usual: .malformed,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The current releases.", valueName: "dir"))
    var releases: [String] = []

    @Option(help: ArgumentHelp("The folder with root.json and targets.json.", valueName: "dir"))
    var keys: String

    @Option(help: ArgumentHelp("Report an expiry this long in advance. Default: 30d.", valueName: "30d"))
    var within: Validity?

    @OptionGroup var time: JudgingTimeOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        let end = try await runCommand(json: json) { () async throws(Failure) -> ResultCode in
            let time = try time.time()
            let (status, presence) = try signing { () throws(SigningError) in
                let trust = try ReleaseTrust(
                    folder: FilePath(argument: keys),
                    policy: .ofThisProcess,
                    files: DiskFiles()
                )
                let status = try TrustStatus(
                    trust,
                    releases: releases.map { FilePath(argument: $0) },
                    files: DiskFiles()
                )
                return (status, try KeyPresence(trust, files: DiskFiles()))
            }
            if json {
                Console.standardOutput.line(report(status, presence, at: time).pretty())
            } else {
                write(status, presence, at: time)
            }
            guard status.incomplete.isEmpty else { return .refused }
            return status.due(within: margin, at: time).isEmpty ? .done : .due
        }
        if end != .done { throw end.asError }
    }

    private var margin: Duration { within?.duration ?? .days(30) }

    private func write(_ status: TrustStatus, _ presence: KeyPresence, at time: UTCTime) {
        var table = Table(["ROLE", Table.Column("VERSION", .right), "UNTIL", "STATE"])
        for role in status.roles {
            table.add([
                Table.Cell(role.role), "\(role.version)", Table.Cell(role.expiry.expires.description),
                state(of: role, at: time),
            ])
        }
        let console = Console.standardOutput
        table.write(to: console)
        console.line()
        presence.table.write(to: console)
        for line in presence.words { console.line(line) }
        for role in status.incomplete {
            console.line(
                "next: \(role.role): `patchsign release sign` by its present keys; when a key was revoked since, "
                    + "`patchsign release renew … --base-quorum-lost`"
            )
        }
        for role in status.due(within: margin, at: time) { console.line("next: \(step(role.role))") }
    }

    private func state(of role: RoleStatus, at time: UTCTime) -> Table.Cell {
        if let quorum = role.quorum, !quorum.isComplete {
            return Table.Cell("incomplete: \(quorum.valid) of \(Words.count(quorum.needed, "signature"))", .red)
        }
        return switch role.expiry.state(within: margin, at: time) {
        case .holds: "holds"
        case .endsSoon: Table.Cell("ends in \(DurationText(left(role.expiry, at: time)))", .yellow)
        case .expired: Table.Cell("expired", .red)
        }
    }

    private func step(_ role: String) -> String {
        ["root", "targets"].contains(role)
            ? "\(role): `patchsign root draft`, signed by its holders"
            : "\(role): `patchsign release renew`, or a new release"
    }

    private func left(_ role: RoleExpiry, at time: UTCTime) -> Duration {
        .seconds(role.expires.seconds - time.seconds)
    }

    private func report(_ status: TrustStatus, _ presence: KeyPresence, at time: UTCTime) -> JSON {
        .fields([
            ("app", .text(status.app.text)), ("at", .text(time.description)),
            ("due", .bool(!status.due(within: margin, at: time).isEmpty)),
            ("incomplete", .bool(!status.incomplete.isEmpty)), ("keys", presence.json),
            (
                "roles",
                .array(
                    status.roles.map { role in
                        .fields([
                            ("role", .text(role.role)), ("version", .integer(role.version)),
                            ("expires", .text(role.expiry.expires.description)),
                            (
                                "state",
                                .text(
                                    role.isComplete
                                        ? "\(role.expiry.state(within: margin, at: time))" : "incomplete"
                                )
                            ),
                            ("signatures", role.quorum.map { .integer($0.valid) }),
                            ("needed", role.quorum.map { .integer($0.needed) }),
                        ])
                    }
                )
            ),
        ])
    }
}

extension KeyPresence {
    var table: Table {
        var table = Table(["KEYS OF", Table.Column("NEEDED", .right), "HERE", "NOT HERE"])
        for row in rows {
            table.add([
                Table.Cell(row.role), "\(row.needed)", Self.cell(row.here), Self.cell(row.missing),
            ])
        }
        return table
    }

    private static func cell(_ names: [String]) -> Table.Cell {
        Table.Cell(names.isEmpty ? "none" : names.joined(separator: ", "))
    }

    /// The warnings about root's keys, because only these can sign a new root.
    var words: [String] {
        guard let root = self[.root] else { return [] }
        var lines: [String] = []
        if let name = root.missingOnlyKey { lines.append(printable("root: \(Self.missingOnly(name, of: .root))")) }
        if root.hasNoSpare {
            lines.append(
                "root: there is no spare key: if one is lost, no device accepts a new root, and the app ends; "
                    + "`patchsign root draft --add-key root=NAME.pub` adds one"
            )
        }
        return lines
    }

    /// `root.key, the only key of root, is not here`.
    static func missingOnly(_ name: String, of role: TrustRole) -> String {
        "\(name).key, the only key of \(role), is not here"
    }
}
