import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// `patchsign describe`: writes a release.yaml.
struct DescribeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe",
        abstract: "Write a commented release.yaml for a folder with a web app.",
        discussion: """
            FOLDER is a web app with an index.html, or a project with its build in dist, build, out, www or _site.
            release.yaml is written next to the web app's folder, so that the next build does not delete it. An
            existing file is never replaced.

            Its comments describe the files: routing, omitted files, lines that compare the host's name with
            localhost. Mistakes are printed as in `patchsign release --check`; release.yaml is written nevertheless.

            EXAMPLES
              patchsign describe dist --keys Keys
              patchsign describe shop/dist --app com.example.shop --output release.yaml
            """
                + exitCodes(
                    [
                        .done: "written",
                        .malformed: "no index.html, or release.yaml is written and its files have mistakes",
                        .conflict: "release.yaml exists",
                    ],
                    usual: .refused,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The folder with the web app, or its project.", valueName: "folder"))
    var folder: String

    @Option(
        name: .customLong("keys"),
        help: ArgumentHelp("The folder with root.json, which names the app.", valueName: "dir")
    )
    var keyFolder: String?

    @Option(help: ArgumentHelp("The app's id, if --keys is not given.", valueName: "app"), transform: parsed)
    var app: AppID?

    @Option(
        help: ArgumentHelp("The channel. Default: the app's only one, or production.", valueName: "name"),
        transform: parsed
    )
    var channel: ChannelName?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The new file. Default: release.yaml next to the web app's folder.", valueName: "file")
    )
    var output: String?

    @OptionGroup var time: TimeOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard (keyFolder == nil) != (app == nil) else { throw ValidationError("give one of --keys and --app") }
    }

    func run() async throws {
        let isRight = try await runCommand(json: json) { () async throws(Failure) -> Bool in try await describe() }
        if !isRight { throw ResultCode.malformed.asError }
    }

    private func describe() async throws(Failure) -> Bool {
        let source = FilePath(argument: folder)
        let found = try signing { () throws(SigningError) in try BareFolder(describing: source, files: DiskFiles()) }
        guard let found else {
            throw Failure(
                "there is no \(BareFolder.index) in \(source), nor in \(BareFolder.buildFolders.joined(separator: ", ")) below it",
                hint: "build the app first, or name the folder that is published",
                code: .malformed
            )
        }
        let file = output.map { FilePath(argument: $0) } ?? found.parent.at(ReleaseDescription.fileName)
        // Checked before thousands of files are read.
        let status = try signing { () throws(SigningError) in
            do throws(FileError) { return try DiskFiles().status(of: file) } catch { throw .file(error) }
        }
        guard status == nil else { throw Failure(SigningError.exists(file)) }
        let place = try place(of: found, below: file.parent)
        let (target, time) = (try target(), try time.time())
        let next = try await signing { () async throws(SigningError) in
            try await found.next(for: target.app, target.channel, over: nil, at: time, files: DiskFiles())
        }
        let check = try await check(found, target, next.label)
        let text = DescriptionText(
            app: target.app,
            channel: target.channel,
            label: next.label,
            versionSource: next.source?.words ?? "",
            folder: place,
            recognition: check.recognitions[next.label.patchID],
            notes: (check.mistakes + check.warnings).map(\.words)
        ).text
        try signing { () throws(SigningError) in
            try DiskFiles().writeNew(Array(text.utf8), to: file, permissions: FilePermissions(rawValue: 0o644))
        }
        write(check, file, found, next.label)
        return check.mistakes.isEmpty
    }

    /// The path of the web app's folder in a description in `folder`.
    private func place(of found: BareFolder, below folder: FilePath) throws(Failure) -> AssetPath {
        let start = folder.string == "/" ? "/" : folder.string + "/"
        guard found.folder.string.hasPrefix(start),
            let place = try? AssetPath(String(found.folder.string.dropFirst(start.count)))
        else {
            throw Failure(
                "\(found.folder) is not below \(folder)",
                hint: "release.yaml names files below its own folder: put it there with --output",
                code: .usage
            )
        }
        return place
    }

    private func target() throws(Failure) -> (app: AppID, channel: ChannelName) {
        guard let keyFolder else {
            guard let app, let standard = channel ?? ChannelName(RootOfTrustPlan.defaultChannels[0]) else {
                preconditionFailure("validated before")
            }
            return (app, standard)
        }
        let trust = try signing { () throws(SigningError) in
            try ReleaseTrust(folder: FilePath(argument: keyFolder), policy: .ofThisProcess, files: DiskFiles())
        }
        guard let channel = channel ?? StandardChannel(of: trust.channels)?.channel else {
            throw BareSource.severalChannels(of: trust)
        }
        return (trust.app, channel)
    }

    private func check(
        _ found: BareFolder,
        _ target: (app: AppID, channel: ChannelName),
        _ label: Label
    ) async throws(Failure) -> ReleaseCheck {
        try await signing { () async throws(SigningError) in
            try await ReleaseCheck(
                folder: found.parent,
                described: found.description(app: target.app, channel: target.channel, label: label),
                trust: nil,
                base: nil,
                files: DiskFiles()
            ) { id, total in
                reporter(ReleaseWork.label(of: .reading(id)))(total)
            }
        }
    }

    private func write(_ check: ReleaseCheck, _ file: FilePath, _ found: BareFolder, _ label: Label) {
        let console = Console.standardOutput
        guard !json else {
            return console.line(
                JSON.fields([
                    ("file", .text(file.string)), ("folder", .text(found.folder.string)),
                    ("id", .text(label.patchID.text)), ("version", .text(label.version.text)),
                    ("check", ReleaseCheckReport(check: check).json),
                ]).pretty()
            )
        }
        console.line("wrote \(printable(file.string)): \(label) from \(printable(found.folder.string))")
        ReleaseCheckReport(check: check).write(json: false)
        console.line("next: look through it, then `patchsign release --check \(shellWord(file.parent.string))`")
    }
}
