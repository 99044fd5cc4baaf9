import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import SystemPackage

/// `patchsign root draft`: the next root and targets, unsigned.
struct RootDraftCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "draft",
        abstract: "Make a draft of the next root and targets for the holders to sign.",
        discussion: """
            ROLE is root, targets, online (snapshot, timestamp and dial: a new key replaces the old one) or a channel.
            A new channel name makes a channel. Without changes, the draft has the same content and a new expiry.

            Instead of a key's file, you can give the name of NAME.pub in --keys, with or without .pub.

            EXAMPLES
              patchsign root draft --keys Keys --output trust.draft
              patchsign root draft --keys Keys --output trust.draft --add-key root=dave.pub \\
                --remove-key root=1a2b3c4d --threshold root=2
              patchsign root draft --keys Keys --output trust.draft --add-key canary=canary.pub
            """
                + exitCodes(
                    [
                        .conflict: "the output exists"
                    ],
                    usual: .done,
                    .refused,
                    .malformed,
                    .disk
                )
    )

    @OptionGroup var folder: FolderOption

    @Option(help: ArgumentHelp("The file to write the draft to.", valueName: "file"))
    var output: String

    @Option(
        name: .customLong("add-key"),
        help: ArgumentHelp("A key to add to a role. Repeatable.", valueName: "role=pubfile|name")
    )
    var added: [Assignment] = []

    @Option(
        name: .customLong("remove-key"),
        help: ArgumentHelp("A key to remove from a role. Repeatable.", valueName: "role=pubfile|name|keyid")
    )
    var removed: [Assignment] = []

    @Option(
        name: .customLong("threshold"),
        help: ArgumentHelp("The number of a role's keys that must sign. Repeatable.", valueName: "role=count")
    )
    var thresholds: [Assignment] = []

    @Option(help: ArgumentHelp("Validity of the changed root and targets. Default: 365d.", valueName: "365d"))
    var expires: Validity?

    @OptionGroup var time: TimeOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let (folder, path) = (self.folder.trustFolder, FilePath(argument: output))
            let trust = try signing { () throws(SigningError) in
                try ReleaseTrust(folder: folder.folder, policy: .ofThisProcess, files: DiskFiles())
            }
            let (edits, time) = (try edits(trust, in: folder.folder), try time.time())
            let change = try signing { () throws(SigningError) in
                let draft = try folder.draft(edits, on: trust.roles, at: time, validity: expires.forTrust)
                let change = try folder.change(draft, at: path)
                try folder.save(draft, to: path, replacing: false)
                return change
            }
            let report = try TrustReport(change, in: folder)
            guard !json else {
                return Console.standardOutput.line(report.json([("draft", .text(path.string))]).pretty())
            }
            report.write(to: .standardOutput)
            Console.standardOutput.line("next: each holder runs `patchsign root sign \(printable(output))`")
        }
    }

    private func edits(_ trust: ReleaseTrust, in folder: FilePath) throws(Failure) -> [TrustEdit] {
        let authorities = try signing { () throws(SigningError) in try trust.authorities() }
        var edits: [TrustEdit] = []
        for row in added {
            let key = try TrustArgument.key(row.value, in: folder)
            edits.append(.add(key, try TrustArgument.role(row.name, in: authorities)))
        }
        for row in removed {
            let selector = try TrustArgument.selector(row.value, in: folder)
            edits.append(.remove(selector, try TrustArgument.role(row.name, in: authorities)))
        }
        for row in thresholds {
            let count = try TrustArgument.count(row.value, of: row.name)
            edits.append(.threshold(count, try TrustArgument.role(row.name, in: authorities)))
        }
        return edits
    }
}
