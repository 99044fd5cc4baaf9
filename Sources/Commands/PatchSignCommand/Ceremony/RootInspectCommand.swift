import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import SystemPackage

/// `patchsign root inspect`: shows a draft.
struct RootInspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show the changes of a draft, its signatures, and the missing ones.",
        discussion: """
            The draft is compared with root.json and targets.json of --keys. A draft with a change that cannot be
            described is refused. Keys are named after the .pub files in --keys.

            EXAMPLES
              patchsign root inspect trust.draft --keys Keys
            """
                + exitCodes(
                    [
                        .done: "done, for complete and incomplete drafts",
                        .refused: "refused: a change cannot be described, or breaks a rule",
                        .conflict: "the draft was made from another root than the folder's",
                    ],
                    usual: .malformed,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The draft of the next root and targets.", valueName: "file"))
    var draft: String

    @OptionGroup var folder: FolderOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let folder = folder.trustFolder
            let change = try signing { () throws(SigningError) in
                try folder.change(at: FilePath(argument: draft))
            }
            let report = try TrustReport(change, in: folder)
            guard !json else { return Console.standardOutput.line(report.json().pretty()) }
            report.write(to: .standardOutput)
            Console.standardOutput.line(
                change.isComplete
                    ? "complete: `patchsign root publish` puts it in place" : "incomplete: nothing changes yet"
            )
        }
    }
}
