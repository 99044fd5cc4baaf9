import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ReleaseService
import ServerRecords
import SystemPackage

/// `patchsrv trust`: accepts a newer root of trust.
struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Publish a newer root of trust: other keys, thresholds or channels.",
        discussion: """
            Reads the output of `patchsign root publish`: root.json, every N.root.json
            that is newer than the published one, and targets.json. Devices follow by
            themselves, without a new app. Each channel's release must be valid under the
            new keys. If its release key was revoked, pass the release signed again
            with --release; it is published at the same moment. If interrupted, run the
            same command again.

            With other keys for snapshot and timestamp, devices forget the known versions.
            A release given with --release may then have a lower version than the
            published one, which an attacker may have raised to the maximum. A channel
            without --release must be at the highest version that this server has seen of
            it; otherwise an old state was restored, and devices would follow it.
            Unchanged parts are listed; compare them with your last publication.

            EXAMPLES
              patchsrv trust --data /srv/patchline --trust Keys
              patchsrv trust --data /srv/patchline --trust Keys --online-key Keys/online-2.key --passphrase-file online.pass
              patchsrv trust --data /srv/patchline --trust Keys --release Releases/production --release Releases/beta
              patchsrv trust --data /srv/patchline --trust Keys --online-key Keys/online-2.key --carry-over production
            """
                + exitCodes(
                    [
                        .done: "done, or done before",
                        .usage: KeyOptions.noTerminal,
                        .refused: "refused: a document or release does not verify; nothing was changed",
                        .busy: "another process uses the data folder",
                        .conflict: "a newer root of trust, or another release, is published",
                    ],
                    usual: .malformed,
                    .disk
                )
    )

    @OptionGroup var folder: FolderOptions

    @Option(help: ArgumentHelp("Folder written by `patchsign root publish`.", valueName: "dir"))
    var trust: String

    @Option(help: ArgumentHelp("The app; must match root.json.", valueName: "app"))
    var app: String?

    @Option(
        help: ArgumentHelp(
            "The new online key: private key of snapshot, timestamp and dial, if it changed.",
            valueName: "file"
        )
    )
    var onlineKey: String?

    @Option(
        name: .customLong("release"),
        help: ArgumentHelp(
            "A signed release to publish with it, one for each channel. Repeatable.",
            valueName: "release"
        )
    )
    var releases: [String] = []

    @Option(
        help: ArgumentHelp(
            "Keep this channel at the tree's version, although the server has seen a higher one. Repeatable.",
            valueName: "channel"
        ),
        transform: parsed
    )
    var carryOver: [ChannelName] = []

    @OptionGroup var passphrase: KeyOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await reporting(json: json) {
            let files = DiskFiles()
            let offered = try TrustUpload(folder: FilePath(argument: trust), files: files)
            let repository = try AppRepository(try namedApp(offered), in: folder.folder)
            var signed: [SignedRelease] = []
            for release in releases {
                signed.append(try SignedRelease(folder: FilePath(argument: release), files: files))
            }
            if onlineKey == nil {
                try OfferedTrust.checkOnlineKeyStays(under: offered, in: repository, at: ProcessEnvironment.now())
            }
            let key = try passphrase.key(
                at: onlineKey.map { FilePath(argument: $0) } ?? repository.onlineKeyFile,
                isStored: onlineKey == nil
            )
            let outcome = try await FollowTrust(
                to: offered,
                of: repository.app,
                releases: signed,
                carryingOver: Set(carryOver),
                by: .here,
                folder.operations(key)
            ).run(onlineKey: key)
            if json {
                Console.standardOutput.line(outcome.json(app: repository.app).pretty())
            } else {
                for line in outcome.lines(app: repository.app) { Console.standardOutput.line(line) }
                if onlineKey != nil, key.isEncrypted, case .updated = outcome {
                    Console.standardOutput.line(
                        "  a running patchsrv serve whose passphrase does not open this key signs nothing (see its /readyz): "
                            + "restart it"
                    )
                }
            }
        }
    }

    private func namedApp(_ offered: TrustUpload) throws -> AppID {
        guard let app else {
            guard let app = offered.app else {
                throw ServerError.setup(document: "root.json", rule: RootOfTrust.appRule)
            }
            return app
        }
        guard let name = AppID(app) else { throw ValidationError("--app \(AppID.rule)") }
        return name
    }
}

extension TrustOutcome {
    func lines(app: AppID) -> [String] {
        switch self {
        case .updated(let done):
            [
                done.root == done.previousRoot
                    ? "targets \(done.targets) of \(app)" : "root \(done.root), targets \(done.targets) of \(app)"
            ]
                + done.published.map { "  published \($0.channel) \($0.version)" }
                + done.carriedOver.map { "  carried over \($0.channel) \($0.version)" }
                + done.carriedDials.map { "  carried over the dial of \($0.channel)\($0.summary)" }
                + done.carriedParameters.map { "  carried over the parameters of \($0.channel)\($0.summary)" }
                + done.dropped.map { "  dropped \($0.channel), which was at \($0.version)" }
                + done.retired.map { "  retired \($0.channel), which was at \($0.version)" }
                + (done.restartsVersions
                    ? ["  other keys for snapshot and timestamp: devices forget their versions"] : [])
                + [
                    "  wrote \(Words.count(done.change.files, "file")), \(ByteText(done.change.bytes))",
                    "  snapshot \(done.roles.snapshot), timestamp \(done.roles.timestamp), until \(done.roles.expires)",
                ]
        case .alreadyCurrent(let root, let targets, let change):
            ["root \(root), targets \(targets) of \(app) are current already"]
                + (change.files > 0 ? ["  put back \(Words.count(change.files, "missing or damaged file"))"] : [])
        }
    }
}

extension TrustPublication.CarriedDial {
    fileprivate var summary: String {
        guard let rows, let paused else { return ", which cannot be read" }
        return ": \(Words.count(rows.count, "row")), \(paused) paused"
    }
}

extension TrustPublication.CarriedParameters {
    fileprivate var summary: String {
        guard let count else { return ", which cannot be read" }
        return ": \(Words.count(count, "value")); look at them with patchsrv parameters show"
    }
}
