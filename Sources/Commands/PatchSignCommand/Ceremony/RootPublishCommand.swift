import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTrust
import SystemPackage

/// `patchsign root publish`: replaces the folder's root of trust with a complete draft.
struct RootPublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Replace root.json and targets.json with a complete draft.",
        discussion: """
            The old and the new root are kept as M.root.json and N.root.json, because devices follow every root.
            root.json is written last. After an interruption, run the same command again. New keys of a rotation
            (NAME.next) take their final names now.

            EXAMPLES
              patchsign root publish trust.draft --keys Keys
              patchsrv trust --data /srv/patchline --trust Keys
            """
                + exitCodes(
                    [
                        .done: "done, or already done",
                        .refused: "refused, or signatures are missing",
                        .conflict: "the draft was made from another root than the folder's",
                    ],
                    usual: .malformed,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The complete draft.", valueName: "file"))
    var draft: String

    @OptionGroup var folder: FolderOption
    @OptionGroup var time: TimeOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let (folder, path, time) = (folder.trustFolder, FilePath(argument: draft), try time.time())
            let draft = try signing { () throws(SigningError) in try folder.draft(at: path) }
            let stage = try signing { () throws(SigningError) in try folder.stage(of: draft, at: path) }
            if stage == .base, !json {
                let change = try signing { () throws(SigningError) in try folder.change(at: path) }
                try TrustReport(change, in: folder).write(to: .standardOutput)
            }
            let settled = try signing { () throws(SigningError) in
                try folder.publish(draft, at: time, from: path)
                return try folder.settle()
            }
            try write(stage, settled, isFirst: draft.base == nil, keys: folder)
        }
    }

    private func write(_ stage: TrustFolder.Stage, _ settled: [String], isFirst: Bool, keys: TrustFolder)
        throws(Failure)
    {
        guard let roles = try signing({ () throws(SigningError) in try keys.current() }) else { return }
        let (root, targets) = (roles.root.header, roles.targets.header)
        let console = Console.standardOutput
        guard !json else {
            let members: [(String, JSON?)] = [
                ("folder", .text(keys.folder.string)), ("published", .bool(stage != .published)),
                ("root", .fields([("version", .integer(root.version)), ("expires", .text(root.expires.description))])),
                (
                    "targets",
                    .fields([("version", .integer(targets.version)), ("expires", .text(targets.expires.description))])
                ),
                ("newKeys", .array(settled.map { .text($0) })),
            ]
            return console.line(JSON.fields(members).pretty())
        }
        console.line(
            (stage == .published ? "was published already" : "published")
                + ": root \(root.version) and targets \(targets.version) are in \(printable(keys.folder.string))"
        )
        for name in settled { console.line("\(name).key is the new key; the old one is in \(KeyFolder.retired)/") }
        guard !isFirst else { return console.line("next: give devices root.json; `patchsrv init` starts the server") }
        console.line("next: \(serverStep(folder.keys, newOnlineKey: settled.contains(RootOfTrustPlan.online)))")
    }
}

/// The command for the server.
func serverStep(_ keys: String, newOnlineKey: Bool) -> String {
    "`patchsrv trust --data … --trust \(printable(keys))"
        + (newOnlineKey ? " --online-key \(printable(keys))/online.key`" : "`")
}
