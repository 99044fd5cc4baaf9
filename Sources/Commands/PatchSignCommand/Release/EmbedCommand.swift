import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// `patchsign embed`: writes the folder that an app embeds.
struct EmbedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "embed",
        abstract: "Write the files that ship inside an app: a complete version for its first start, offline.",
        discussion: """
            Verifies the release as `patchsrv publish` does, and needs no key. For each patch it ships the newest
            unrestricted version: no rollout below 100 %, app versions, condition, users or required dial. --select
            ships another one. The same release gives the same bytes. A web view can load bundles/PATCHID/ directly; a
            device starts from it with `patchsync init --embedded`.

            EXAMPLES
              patchsign embed v7.release --keys Keys --output app/patchline --app-build 1042
              patchsign embed v7.release --keys Keys --output app/patchline --select web=2.1.0 --json
              patchsign embed v7.release --keys Keys --output app/patchline --from server/tree/com.example.shop
            """
                + exitCodes(
                    [
                        .done: "written",
                        .refused: "the release does not verify, lacks a file or signatures",
                        .malformed: "nothing to ship, or a selected version is not listed",
                        .conflict: "--output contains something else, or a newer release",
                    ],
                    usual: .disk
                )
    )

    @Argument(help: ArgumentHelp("The signed release.", valueName: "dir"))
    var release: String

    @Option(name: [.short, .long], help: ArgumentHelp("The folder to write to.", valueName: "dir"))
    var output: String

    @Option(help: ArgumentHelp("The folder with root.json and targets.json.", valueName: "dir"))
    var keys: String

    @Option(help: ArgumentHelp("The root to ship instead of root.json in --keys.", valueName: "file"))
    var root: String?

    @Option(help: "The app build that ships these files. With another build, devices start over from its files.")
    var appBuild: String?

    @Option(
        help: ArgumentHelp(
            "Ship this version of a patch, regardless of its rules. Repeatable.",
            valueName: "id=version"
        )
    )
    var select: [String] = []

    @Option(
        help: ArgumentHelp(
            "A folder with files that the release omits: another release, or an app's published tree. Repeatable.",
            valueName: "dir"
        )
    )
    var from: [String] = []

    @Flag(help: "Also replace files of a newer release, or of another app or channel.")
    var force = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        if let appBuild, AppBuild(appBuild) == nil { throw ValidationError("--app-build \(AppBuild.rule)") }
        _ = try chosen()
    }

    func run() async throws {
        try await runCommand(json: json, work)
    }

    private func work() async throws(Failure) {
        let folder = FilePath(argument: release)
        let (verified, root) = try verified(folder)
        let chosen: [PatchID: VersionLabel]
        do { chosen = try self.chosen() } catch { preconditionFailure("validated before") }
        let output = FilePath(argument: output)
        let document = try signing { () throws(SigningError) in
            let selection: EmbeddedSelection
            do throws(EmbeddingProblem) {
                selection = try EmbeddedSelection(verified.list.list, chosen: chosen)
            } catch { throw .embedding(folder, error) }
            let writer = try EmbeddedWriter(output, of: verified, force: force, files: DiskFiles())
            return try writer.write(
                selection,
                of: verified,
                root: root,
                appBuild: appBuild.flatMap { AppBuild($0) },
                elsewhere: elsewhere
            )
        }
        report(document, at: output)
    }

    /// The release with a complete quorum, and the root to embed.
    private func verified(_ folder: FilePath) throws(Failure) -> (VerifiedRelease, root: [UInt8]) {
        let keys = FilePath(argument: keys)
        return try signing { () throws(SigningError) in
            let trust = try ReleaseTrust(folder: keys, policy: .ofThisProcess, files: DiskFiles())
            let verified = try VerifiedRelease(
                folder: folder,
                rootOfTrust: trust,
                files: DiskFiles(),
                elsewhere: elsewhere,
                leftOut: .refused
            )
            guard verified.quorum.isComplete else {
                throw .incomplete(
                    folder,
                    role: verified.role.name,
                    valid: verified.quorum.valid,
                    needed: verified.quorum.needed
                )
            }
            return (verified, try trust.shippedRoot(self.root.map { FilePath(argument: $0) }, files: DiskFiles()))
        }
    }

    /// The object in the first folder of --from that contains it.
    ///
    /// Releases and published trees use the same name for it.
    private func elsewhere(_ digest: SHA256Digest) -> FilePath? {
        from.lazy.map { FilePath(argument: $0).at(URLLayout.object(digest)) }.first {
            (try? DiskFiles().identity(of: $0)).flatMap(\.self) != nil
        }
    }

    private func chosen() throws -> [PatchID: VersionLabel] {
        var chosen: [PatchID: VersionLabel] = [:]
        for text in select {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let id = PatchID(parts[0]), let version = VersionLabel(parts[1]) else {
                throw ValidationError("--select \(text): must be id=version, as in web=2.1.0")
            }
            guard chosen.updateValue(version, forKey: id) == nil else {
                throw ValidationError("--select names \(id) twice")
            }
        }
        return chosen
    }

    private func report(_ document: EmbeddedDocument, at output: FilePath) {
        let console = Console.standardOutput
        guard !json else {
            return console.line(
                JSON.fields([
                    ("folder", .text(output.string)), ("app", .text(document.app.text)),
                    ("channel", .text(document.channel.text)), ("roleVersion", .integer(document.roleVersion)),
                    ("appBuild", document.appBuild.map { .text($0.text) }),
                    (
                        "patches",
                        .array(
                            document.patches.map(\.entry).map { entry in
                                .fields([
                                    ("patchId", .text(entry.patchID.text)), ("kind", .text(entry.kind.rawValue)),
                                    ("version", .text(entry.version.text)),
                                ])
                            }
                        )
                    ),
                ]).pretty()
            )
        }
        let names = document.patches.map(\.entry.label.description).joined(separator: ", ")
        console.line("\(output): \(names)")
        console.line(
            "release \(document.roleVersion) of \(document.app) \(document.channel)"
                + (document.appBuild.map { ", for build \($0)" } ?? "")
        )
        console.line("next: patchsync init --store DIR --embedded \(output) --server URL")
    }
}
