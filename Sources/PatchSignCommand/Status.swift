import ArgumentParser
import CommandSupport
import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import SystemPackage
import Terminal

/// `patchsign status`: what must be signed again, and when.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says until when root, targets and releases hold; for cron.",
        discussion: """
            patchsign status --keys Keys
            patchsign status --keys Keys v2.release beta7.release --within 30d

            In a crontab, which mails what fails:
            0 8 * * 1  patchsign status --keys /srv/keys /srv/releases/production --within 30d

            Opens no key. What expires stops devices from taking anything new; what they run, they keep.

            Exit codes: 0 all of it holds for longer; 3 root.json or targets.json do not hold; 4 malformed; 6 disk; \
            10 something has expired, or will within the time; 64 usage.
            """
    )

    @Argument(help: ArgumentHelp("Current releases.", valueName: "dir"))
    var releases: [String] = []

    @Option(help: ArgumentHelp("The folder with root.json and targets.json.", valueName: "dir"))
    var keys: String

    @Option(help: ArgumentHelp("How long before its end a role is reported. Default: 30d.", valueName: "30d"))
    var within: Validity?

    @OptionGroup var time: TimeOption

    @Flag(help: "Print as JSON.")
    var json = false

    func run() async throws {
        let isDue = try await ending(json: json) { () async throws(Failure) -> Bool in
            let time = try time.time()
            let status = try signing { () throws(SigningError) in
                let folder = FilePath(argument: keys)
                return try TrustStatus(
                    try RootOfTrust(folder: folder, policy: .ofThisProcess, files: DiskFiles()),
                    releases: releases.map { FilePath(argument: $0) },
                    files: DiskFiles()
                )
            }
            json ? Console.standardOutput.line(report(status, at: time).pretty()) : write(status, at: time)
            return !status.due(within: margin, at: time).isEmpty
        }
        if isDue { throw Terminal.ExitCode.due.ending }
    }

    private var margin: Duration { within?.duration ?? .days(30) }

    private func write(_ status: TrustStatus, at time: UTCTime) {
        var table = Table(["ROLE", Table.Column("VERSION", .right), "UNTIL", "STATE"])
        for role in status.roles {
            let state: Table.Cell =
                switch role.state(within: margin, at: time) {
                case .holds: "holds"
                case .endsSoon: Table.Cell("ends in \(DurationText(left(role, at: time)))", .yellow)
                case .expired: Table.Cell("expired", .red)
                }
            table.add([Table.Cell(role.role), "\(role.version)", Table.Cell(role.expires.description), state])
        }
        let console = Console.standardOutput
        table.write(to: console)
        for role in status.due(within: margin, at: time) { console.line("next: \(step(role.role))") }
    }

    private func step(_ role: String) -> String {
        ["root", "targets"].contains(role)
            ? "\(role): `patchsign root draft`, signed by its holders"
            : "\(role): `patchsign release renew`, or a new release"
    }

    private func left(_ role: RoleExpiry, at time: UTCTime) -> Duration {
        .seconds(role.expires.seconds - time.seconds)
    }

    private func report(_ status: TrustStatus, at time: UTCTime) -> JSON {
        .fields([
            ("app", .text(status.app.text)), ("at", .text(time.description)),
            ("due", .bool(!status.due(within: margin, at: time).isEmpty)),
            (
                "roles",
                .array(
                    status.roles.map { role in
                        .fields([
                            ("role", .text(role.role)), ("version", .integer(role.version)),
                            ("expires", .text(role.expires.description)),
                            ("state", .text("\(role.state(within: margin, at: time))")),
                        ])
                    }
                )
            ),
        ])
    }
}
