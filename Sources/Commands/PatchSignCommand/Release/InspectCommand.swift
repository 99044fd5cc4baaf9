import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import ReleaseFolder
import SystemPackage

/// `patchsign inspect`: shows a release.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show the contents and changes of a release, without verifying it.",
        discussion: """
            EXAMPLES
              patchsign inspect v2.release --previous v1.release
              patchsign inspect v2.release --json
            """
                + exitCodes(
                    [
                        .refused: "a part is missing"
                    ],
                    usual: .done,
                    .malformed,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The signed release.", valueName: "dir"))
    var release: String

    @Option(help: ArgumentHelp("A release to compare it with.", valueName: "dir"))
    var previous: String?

    @OptionGroup var names: NamesOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let (release, contents) = try read(FilePath(argument: self.release))
            let base = try previous.map { (path) throws(Failure) in try read(FilePath(argument: path)).contents }
            let difference = base.map { ReleaseDifference(from: $0, to: contents) }
            let signatures = release.role.signatures.count
            let console = Console.standardOutput
            guard !json else {
                let members: [(String, JSON?)] = [
                    ("release", contents.json), ("roleSignatures", .integer(signatures)),
                    ("difference", difference.map(\.json)),
                ]
                return console.line(JSON.fields(members).pretty())
            }
            Summary(contents: contents, signatures: signatures).write(to: console)
            ContentsTable(contents).write(to: console)
            guard let base, let difference else { return names.write(filesOf: contents, to: console) }
            console.line("against version \(base.roleVersion):")
            names.write(difference, to: console)
        }
    }

    private func read(_ folder: FilePath) throws(Failure) -> (release: SignedRelease, contents: ReleaseContents) {
        do throws(ReleaseError) {
            let release = try SignedRelease(folder: folder, files: DiskFiles())
            return (release, try ReleaseContents(release))
        } catch { throw Failure(SigningError.release(folder, error)) }
    }

    /// The lines above the table.
    private struct Summary {
        let contents: ReleaseContents
        let signatures: Int

        func write(to console: Console) {
            console.line("app      \(contents.app), channel \(contents.channel)")
            let base = contents.base.map { "made from version \($0.roleVersion)" } ?? "the channel's first"
            console.line("version  \(contents.roleVersion) (\(base)), list \(contents.list.serial)")
            console.line("made     \(contents.list.published), for devices until \(contents.expires)")
            console.line("signed   \(Words.count(signatures, "signature")) on the role, not verified here")
        }
    }
}
