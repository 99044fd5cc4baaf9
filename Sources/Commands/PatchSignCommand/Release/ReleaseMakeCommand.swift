import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import SystemPackage

/// `patchsign release FOLDER`.
struct ReleaseMakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Describe a folder and sign it as the next release of its channel (the default).",
        discussion: """
            FOLDER contains release.yaml and the files it names, or only a web app. A folder with index.html and
            without release.yaml becomes the bundle web of the default channel; its version is read from package.json,
            `git describe` or the date. `patchsign describe FOLDER` writes a release.yaml to edit. release.yaml must
            contain every patch of the previous release, with the same version or a new one.

            With --server, the release is made from the currently published one, which is fetched and verified from
            the root in --keys. URL is the operators' port (with a token), a device port or a static host. Files stay
            on the server; signatures of unchanged files are kept. A draft that waits for signatures is named. Without
            a network, --previous names the published release's folder, which must verify and have all signatures. If
            nothing is published, or without both options, it is the channel's first release.

            With --previous, it also prints the cost of an update from each version that the previous release lists:
            \(Table.updateColumns)
            The packs are made as on the server: with less effort above 64 MB of new contents, and not at all above
            400 MB. Compressed forms are made with less effort than there, so the server's packs have the same size or
            are slightly smaller.

            Bundles omit dot files, node_modules, logs and editor leftovers, with a warning; `include:` in
            release.yaml keeps them. A private key, a token, or a symbolic link without `links: follow` is an error. A
            compressed file (.gz, .br, .zst) that differs from its plain one is omitted.

            Scripts are parsed with patchscript, from patchsign's folder or PATH. Syntax errors are reported with line
            and column. With `hosts: [interface.json]` in release.yaml, names that no host exposes are warnings.

            --check reports every mistake in description and files, with line and key. It opens no key and writes
            nothing. With --keys it also checks app and channel, with --server or --previous the whole list. --schema
            prints the JSON schema for editors.

            EXAMPLES
              patchsign release make dist --keys Keys --output v1.release
              patchsign release make Patches/shop/v1 --keys Keys --output v1.release
              patchsign release make Patches/shop/v2 --keys Keys --server https://patches.example.com --output v2.release
              patchsign release make Patches/shop/v2 --keys Keys --previous v1.release --output v2.release
              patchsign release make --check Patches/shop/v2 --keys Keys --previous v1.release
            """
                + exitCodes(
                    [
                        .done: "done (also if other signatures are missing)",
                        .failed: "an external signer failed",
                        .malformed: "invalid description or files",
                        .network: "no connection to the server, or an external signer timed out",
                        .conflict: "the output exists, or a draft waits on the server",
                    ],
                    usual: .refused,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The folder with release.yaml, or with the web app.", valueName: "folder"))
    var folder: String?

    @Flag(help: "Report every mistake; sign nothing.")
    var check = false

    @Flag(help: "Print the JSON schema of release.yaml.")
    var schema = false

    @OptionGroup var making: MakingOptions

    @Option(name: .customLong("keys"), help: ArgumentHelp(KeyOptions.help, valueName: "dir"))
    var keyFolder: String?

    @OptionGroup(title: "Keys") var opening: KeyOpening
    @OptionGroup var time: TimeOption

    @OptionGroup var base: BaseOptions

    @OptionGroup var bare: BareFolderOptions

    @Flag(help: "Write nothing if the previous release already lists the same.")
    var ifChanged = false

    @Flag(help: "Name every added, changed and removed file. Default: the first 20 of each bundle.")
    var verbose = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard !schema else { return }
        guard folder != nil else { throw ValidationError("Missing expected argument '<folder>'") }
        guard !check else {
            if let option = base.option, keyFolder == nil { throw ValidationError("\(option) is verified with --keys") }
            return
        }
        guard keyFolder != nil else { throw ValidationError("Missing expected argument '--keys <dir>'") }
        guard making.output != nil else { throw ValidationError("Missing expected argument '--output <dir>'") }
    }

    func run() async throws {
        guard !schema else { return Console.standardOutput.write(DescriptionSchema.text) }
        let folder = FilePath(argument: folder ?? "")
        let keys = keyFolder.map { KeyOptions(keys: $0, opening: opening) }
        let isRight = try await runCommand(json: json) { () async throws(Failure) -> Bool in
            if check { return try await look(at: folder, keys) }
            guard let keys else { preconditionFailure("validated before") }
            try await make(folder, keys)
            return true
        }
        if !isRight { throw ResultCode.malformed.asError }
    }

    private func make(_ folder: FilePath, _ keys: KeyOptions) async throws(Failure) {
        let trust = try keys.rootOfTrust()
        let source = try ReleaseSource(folder, bare, trust: trust)
        let work = try ReleaseWork(
            channel: source.channel,
            base: try await base.next(of: source.channel, trust),
            trust: trust,
            time: try time.time(),
            created: try time.given(),
            making: making,
            keys: keys,
            source: folder
        )
        let described = try await source.described(over: work.builder.base, at: work.builder.time)
        if !json, let derived = described.derived { for line in derived.lines { Console.standardOutput.line(line) } }
        let made = try await signing { () async throws(SigningError) in
            try await work.builder.release(described.description, in: described.folder)
        }
        if ifChanged, let base = work.builder.base, try work.contents(of: made).listsTheSame(as: base.contents) {
            return writeUnchanged(base)
        }
        var report = try work.written(made)
        report.derived = described.derived
        report.named = verbose ? .all : .first
        report.updates = await work.updates(to: made, report.contents)
        report.write(json: json)
        if let base = work.builder.base, report.contents.listsTheSame(as: base.contents) {
            Console.standardError.line(
                "warning: it lists the same as the release before it; only its version and expiry are new"
            )
        }
    }

    private func writeUnchanged(_ base: BaseRelease) {
        let console = Console.standardOutput
        let release = base.contents.roleVersion
        let place = base.folder.map { ", \($0)" } ?? ""
        guard !json else {
            return console.line(JSON.fields([("changed", .bool(false)), ("release", base.contents.json)]).pretty())
        }
        console.line(printable("nothing changed since release \(release)\(place); nothing was written"))
    }

    /// Checks the description, and returns whether it has no mistakes.
    private func look(at folder: FilePath, _ keys: KeyOptions?) async throws(Failure) -> Bool {
        let trust = try keys?.rootOfTrust()
        var previous: BaseRelease?
        var described: ReleaseSource.Described?
        if let trust {
            let source = try ReleaseSource(looking: folder, self.bare, trust: trust)
            if base.isNamed {
                var channel = source?.channel
                if source == nil {
                    channel = try signing { () throws(SigningError) in
                        try DescriptionReading(folder: folder, files: DiskFiles()).channel
                    }
                }
                previous = try await base.current(of: channel, trust)
            }
            if case .bare(let bare)? = source {
                described = try await bare.described(over: previous, at: try time.time())
            }
        }
        let check = try await signing { () async throws(SigningError) in
            try await ReleaseCheck(
                folder: described?.folder ?? folder,
                described: described?.description,
                trust: trust,
                base: previous,
                scriptParsing: .installed,
                files: DiskFiles()
            ) { id, total in
                reporter(ReleaseWork.label(of: .reading(id)))(total)
            }
        }
        ReleaseCheckReport(check: check).write(json: json)
        return check.mistakes.isEmpty
    }
}

extension ScriptParsing {
    /// Uses the program next to this one, or in PATH.
    static var installed: ScriptParsing {
        SiblingProgram.path(of: "patchscript").map { .by(ScriptParser($0)) } ?? .notInstalled
    }
}

/// The result of `patchsign release --check`.
struct ReleaseCheckReport {
    let check: ReleaseCheck

    func write(json: Bool) {
        let console = Console.standardOutput
        guard !json else { return console.line(self.json.pretty()) }
        for mistake in check.mistakes {
            console.line(console.styled("error:", .bold, .red) + " " + printable("\(mistake)"))
        }
        for warning in check.warnings + check.notJudged { console.line(Self.line(warning, on: console)) }
        for line in ReleaseReport.words(check.recognitions) { console.line(line) }
        let counts = [
            check.mistakes.isEmpty ? nil : Words.count(check.mistakes.count, "mistake"),
            check.warnings.isEmpty ? nil : Words.count(check.warnings.count, "warning"),
        ]
        let found = counts.compactMap(\.self)
        let judged = found.isEmpty ? "no mistakes" : found.joined(separator: ", ")
        guard !check.notJudged.isEmpty else { return console.line(judged) }
        let open = Words.count(check.notJudged.count, "requirement")
        console.line(
            "\(judged); \(open) not judged: name the release that is published now with --server or --previous (a first release is refused)"
        )
    }

    static func line(_ warning: DescriptionError, on console: Console) -> String {
        console.styled("warning:", .bold, .yellow) + " " + printable("\(warning)")
    }

    var json: JSON {
        .fields([
            ("ok", .bool(check.mistakes.isEmpty)), ("app", check.app.map { .text($0.text) }),
            ("channel", check.channel.map { .text($0.text) }), ("mistakes", .array(check.mistakes.map(\.json))),
            ("warnings", .array(check.warnings.map(\.json))), ("notJudged", .array(check.notJudged.map(\.json))),
            ("changed", check.isChanged.map { .bool($0) }),
        ])
    }
}
