import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import SystemPackage

/// `patchsign root merge`: merges the signatures of several copies of one draft.
struct RootMergeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Add the signatures of other copies of a draft to it.",
        discussion: """
            Invalid signatures are skipped. All copies must have the same content: other content is a conflict, and
            nothing is written.

            EXAMPLES
              patchsign root merge trust.draft from-bob.draft from-carol.draft --keys Keys
            """
                + exitCodes(
                    [
                        .conflict: "other content, or made from another root"
                    ],
                    usual: .done,
                    .refused,
                    .malformed,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The draft to complete.", valueName: "file"))
    var draft: String

    @Argument(help: ArgumentHelp("Copies of the draft with other signatures.", valueName: "other"))
    var others: [String]

    @OptionGroup var folder: FolderOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let (folder, path) = (folder.trustFolder, FilePath(argument: draft))
            let change = try signing { () throws(SigningError) in
                var change = try folder.change(at: path)
                for other in others.map({ FilePath(argument: $0) }) {
                    change = try folder.merge(try folder.draft(at: other), at: other, into: change, at: path)
                }
                try folder.save(change.draft, to: path, replacing: true)
                return change
            }
            let report = try TrustReport(change, in: folder)
            guard !json else { return Console.standardOutput.line(report.json().pretty()) }
            report.writeQuorums(to: .standardOutput)
        }
    }
}
