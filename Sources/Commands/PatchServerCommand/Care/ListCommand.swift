import CommandKit
import ArgumentParser
import PatchFormat
import PatchServer
import PatchStore
import ReleaseService

/// `patchsrv list`: shows the published state.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List published versions, drafts that need signatures, and expiry times of roles.",
        discussion: """
            EXAMPLES
              patchsrv list --data /srv/patchline
              patchsrv list --data /srv/patchline --app com.example.shop --json
              patchsrv draft list --data /srv/patchline --channel production      (what waits, alone)
            """
                + exitCodes([
                    .done: "shown",
                    .refused: "a published tree does not verify",
                    .disk: "a file could not be read, or there is no app",
                ])
    )

    @OptionGroup var folder: FolderOptions
    @OptionGroup var selection: AppOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await reporting(json: json) {
            let folder = folder.folder
            let apps = try selection.apps(in: folder)
            var listings: [AppListing] = []
            for app in apps {
                let listing = try AppListing(of: AppRepository(app, in: folder))
                listings.append(listing.takesReports ? try await folder.operations().counting(listing) : listing)
            }
            let console = Console.standardOutput
            let pending = (try? folder.pendingOptimizations()) ?? []
            if json {
                console.line(JSON.fields([("apps", .array(listings.map(\.json)))]).optimizing(pending).pretty())
            } else {
                for listing in listings { listing.write(to: console, now: ProcessEnvironment.now()) }
                for row in pending { console.line("\(row.app): \(row.pending.words)") }
            }
        }
    }
}

extension AppListing {
    func write(to console: Console, now: UTCTime) {
        console.line(console.styled(app.text, .bold))
        console.line()
        var table = Table([
            "channel", Table.Column("release", .right), "patch", "version", "kind", "rollout",
            Table.Column("size", .right),
        ])
        for channel in channels {
            if channel.patches.isEmpty { table.add(["\(channel.name)", "\(channel.version)", "nothing"]) }
            for patch in channel.patches {
                table.add([
                    "\(channel.name)", "\(channel.version)", "\(patch.patchID)", "\(patch.version)",
                    "\(patch.kind.rawValue)",
                    "\(patch.rolloutText)", "\(ByteText(patch.size))",
                ])
            }
        }
        if channels.isEmpty { console.line("nothing published yet") } else { table.write(to: console) }
        for channel in channels {
            for patch in channel.patches {
                let name = "\(channel.name) \(patch.patchID) \(patch.version)"
                if patch.place.isInPages { console.line(printable("place: \(name) \(patch.place)")) }
                for gateway in patch.gateways { console.line("gateway: \(name) for \(gateway.system)'s clients") }
                if let security = patch.security { console.line(printable("security: \(name): \(security)")) }
            }
        }
        for channel in channels {
            for line in channel.gateways.json?.gatewayLines(channel.name.text) ?? [] { console.line(line) }
            for line in channel.gateways.packages {
                line.writeReports(to: console, channel.name)
                for warning in line.developers.compactMap(\.warning) {
                    console.line(printable("gateway: \(channel.name): \(warning)"))
                }
            }
        }
        console.line()
        if !drafts.isEmpty { drafts.table.write(to: console); console.line() }
        roleTable(now: now).write(to: console)
        console.line()
    }

    private func roleTable(now: UTCTime) -> Table {
        var table = Table(["role", Table.Column("version", .right), "expires"])
        for role in roles {
            let expires: Table.Cell =
                role.expires > now ? "\(role.expires)" : Table.Cell("\(role.expires), expired", .red)
            table.add(["\(role.name)", "\(role.version)", expires])
        }
        return table
    }
}

extension PackageOffer {
    /// Writes the reports of the gateway's clients.
    fileprivate func writeReports(to console: Console, _ channel: ChannelName) {
        for counts in counts {
            let codes = counts.codes.map { "\($0.code): \($0.devices)" }.joined(separator: ", ")
            console.line(
                "gateway: \(channel) \(row.line) version \(counts.version): "
                    + "about \(Words.count(counts.succeeded, "device")) installed it, "
                    + "\(counts.failed) failed\(codes.isEmpty ? "" : " (\(codes))"); these reports are not authenticated"
            )
        }
    }
}

extension AppListing.Patch {
    /// The share in percent, or the dial's if that is lower, and the head-count.
    var rolloutText: String {
        guard dial?.paused != true else { return "paused" }
        let places = dial?.headcount.map { ", \(Words.count($0, "place"))" } ?? ""
        return "\(RolloutShare(min(rollout, dial?.rollout ?? rollout)))\(places)"
    }
}
