import ArgumentParser
import CommandKit
import PatchDelta
import PatchFormat
import PatchServer
import PatchStore
import ReleaseService

/// `patchsrv packs`: shows the cost of updates and makes packs that reduce it.
struct PacksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packs",
        abstract: "Show the download size of an update from each earlier version, and make packs.",
        discussion: """
            A pack updates a bundle from one version to another in one request, with a
            fraction of the bytes. A publish makes packs from the last versions
            (--pack-bases). This command makes others, for a version that apps embed or
            that many devices still have. Its manifest and files must be in the tree
            (see --keep of `patchsrv gc`). A pack that is not smaller than an update
            without it is not kept. A publish also drops a pack of more than 64 KiB that
            saves less than 10 % of an update; with --from or --all it is kept.

            The table has a row for each bundle that the channel lists and each version in the tree that it listed:
            \(Table.updateColumns)

            EXAMPLES
              patchsrv packs --data /srv/patchline --channel production
              patchsrv packs --data /srv/patchline --channel production --from 1.4.0
              patchsrv packs --data /srv/patchline --channel production --all --json
            """
                + exitCodes(
                    [
                        .done: "shown, or made and shown",
                        .refused: "no such channel, or the version of --from is not in the tree",
                        .busy: "another process uses the data folder (--from, --all)",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var place: LocalChannelOptions

    @Option(
        help: ArgumentHelp(
            "Make packs from this version, or the version of this manifest (SHA-256), to the listed ones.",
            valueName: "version"
        )
    )
    var from: PackBaseArgument?

    @Flag(help: "Make packs from every version in the tree that the channel listed.")
    var all = false

    func validate() throws {
        guard from == nil || !all else { throw ValidationError("--from and --all are given; one of them is enough") }
    }

    func run() async throws {
        try await reporting(json: place.json) {
            let repository = try place.repository
            let (channel, app) = (place.channel, repository.app)
            let wanted = from?.wanted ?? .all
            if let from, try ListUpdates(of: channel, wanted, in: repository).run().isEmpty {
                throw Failure(
                    "the tree has no version \(from.text) that devices update to a version of \(channel)",
                    hint: "patchsrv packs --channel \(channel) shows those that it has",
                    code: .refused
                )
            }
            var change = TreeChange.nothing
            if all || from != nil {
                change = try await place.folder.operations().showingProgress(of: app)
                    .makePacks(of: channel, in: app, wanted)
            }
            let steps = try ListUpdates(of: channel, wanted, in: repository).run()
            place.show(Self.json(steps, change, app, channel)) { Self.write(steps, change, channel, to: $0) }
        }
    }

    static func json(_ steps: [UpdateStep], _ change: TreeChange, _ app: AppID, _ channel: ChannelName) -> JSON {
        .fields([
            ("app", .text(app.text)), ("channel", .text(channel.text)), ("updates", .array(steps.map(\.json))),
            ("filesWritten", .integer(change.files)), ("bytesWritten", .integer(change.bytes)),
        ])
    }

    static func write(_ steps: [UpdateStep], _ change: TreeChange, _ channel: ChannelName, to console: Console) {
        if change.files > 0 {
            console.line("wrote \(Words.count(change.files, "file")), \(ByteText(change.bytes))")
        }
        guard !steps.isEmpty else {
            return console.line("no update to \(channel) starts at a version that is in the tree")
        }
        Table(of: steps).write(to: console)
        for step in steps where step.wastesSpace {
            console.line(
                "\(step.patchID) \(step.base) to \(step.version): the pack saves \(step.saving ?? 0) % of an update, less than "
                    + "\(UpdateCost.leastSaving) %; a publish would not keep it"
            )
        }
    }
}

/// The version of a pack's base: `1.4.0`, or the SHA-256 of a manifest.
struct PackBaseArgument: ExpressibleByArgument {
    let text: String
    let wanted: WantedPacks

    init?(argument: String) {
        text = argument
        if let digest = SHA256Digest(hex: argument) {
            wanted = .manifest(digest)
        } else if let version = VersionLabel(argument) {
            wanted = .version(version)
        } else {
            return nil
        }
    }
}

/// The packs that are made for a published release.
struct PackOptions: ParsableArguments {
    static let bases = 0...20
    static let basesRule = "must be from 0 to 20"

    @Option(
        help: ArgumentHelp(
            "Number of earlier versions of a bundle to make packs from at a publish; 0 for none (default: 3).",
            valueName: "count"
        )
    )
    var packBases: Int?

    func validate() throws {
        guard packBases.map(Self.bases.contains) ?? true else {
            throw ValidationError("--pack-bases \(Self.basesRule)")
        }
    }

    /// The operations with these options applied.
    func adjust(_ operations: ReleaseOperations) -> ReleaseOperations {
        var operations = operations
        if let packBases { operations.packBases = packBases }
        operations.forms = .fast
        return operations
    }
}
