import CommandKit
import ArgumentParser
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ReleaseService
import SystemPackage

/// `patchsrv publish`: makes a signed release the current one.
struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Verify a signed release and make it the current one.",
        discussion: """
            Every signature and digest of the release is checked first. A release that
            does not verify is refused with the reason and changes nothing. The release
            must be based on the channel's current one. Below its threshold it is kept as
            a draft, and published with the last missing signature. A running
            `patchsrv serve` needs no restart.

            Devices see the release within seconds, with fast forms of its files. Smaller
            forms and packs are made later by a running serve or by `patchsrv optimize`,
            or at once with --optimize.

            With --rollout, --paused or --ramp, devices see the release and the share of
            its new versions together. A draft keeps these options until its last
            signature. `patchsrv rollout` raises the share later.

            EXAMPLES
              patchsrv publish Release --data /srv/patchline
              patchsrv publish Release --data /srv/patchline --rollout 10%
              patchsrv publish Release --data /srv/patchline --ramp 1%,5%,25%,100% --every 6h
              patchsrv publish Release --data /srv/patchline --json
              patchsrv publish Release --data /srv/patchline --optimize
              patchsrv publish Release --data /srv/patchline --label "spring sale" --notes "The cart adds up again."
            """
                + exitCodes(
                    [
                        .done: "published, published before, or kept as a draft",
                        .usage: KeyOptions.noTerminal,
                        .refused: "refused: the release does not verify, or no key may sign for the channel",
                        .malformed: "a file of the release is malformed or missing",
                        .busy: "another process uses the data folder",
                        .conflict:
                            "conflict: it is not based on the current release, or another draft has its version",
                    ],
                    usual: .disk
                )
    )

    @Argument(help: ArgumentHelp("Folder written by `patchsign release`.", valueName: "release"))
    var release: String

    @OptionGroup var folder: FolderOptions
    @OptionGroup var passphrase: KeyOptions
    @OptionGroup var notes: NotesOptions
    @OptionGroup var rollout: StartingRolloutOptions
    @OptionGroup(title: "Packs") var packs: PackOptions

    @Flag(help: "Make small forms and packs before the command ends, as `patchsrv optimize` does.")
    var optimize = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await publish(shownOn: .standardOutput)
    }

    /// - Parameters:
    ///   - console: The output for the result.
    ///   - isServedNext: Whether a server starts afterwards and makes the small forms.
    func publish(shownOn console: Console, isServedNext: Bool = false) async throws {
        try await reporting(json: json) {
            let files = DiskFiles()
            let source = FilePath(argument: release)
            guard try files.status(of: source.followingLinks)?.kind == .directory else {
                throw Failure(
                    "there is no folder \(source)",
                    hint: "name one that patchsign release wrote",
                    code: .disk
                )
            }
            guard try !folder.folder.givenApps(files: files).isEmpty else { throw Failure.noApps(in: folder.folder) }
            let signed = try SignedRelease(folder: source, files: files)
            let repository = try AppRepository(signed.header.app, in: folder.folder)
            let key = try passphrase.key(at: repository.onlineKeyFile)
            let operations = packs.adjust(try folder.operations(key)).showingProgress(of: repository.app)
            let outcome = try await OfferRelease(
                signed,
                notes: try ReleaseNotes(Fields(notes.json, of: "the command line")),
                starting: rollout.wish,
                by: .here,
                operations
            ).run()
            if rollout.wish != nil, case .alreadyPublished = outcome {
                Console.standardError.line("warning: \(StartingRolloutOptions.tooLate)")
            }
            if json {
                let answer = outcome.json(app: repository.app)
                guard optimize, outcome.isPublished else { return Console.standardOutput.line(answer.pretty()) }
                let made = try await Optimizer(operations).optimize(repository.app)
                Console.standardOutput.line(answer.optimized(made.json(app: repository.app)).pretty())
            } else {
                let options = " --data \(shellWord(folder.data))"
                for line in outcome.lines(app: repository.app, options: options) { console.line(line) }
                if optimize, outcome.isPublished {
                    for line in try await Optimizer(operations).optimize(repository.app).lines {
                        console.line("  \(printable(line))")
                    }
                } else if outcome.awaitsForms {
                    let isServed = isServedNext || folder.folder.isOptimized
                    console.line("  \(Self.later(in: folder.folder, isServed: isServed))")
                }
                for warning in outcome.endings { Console.standardError.line("warning: \(warning)") }
                if let hint = outcome.dialHint(options: options) { Console.standardError.line("hint: \(hint)") }
            }
        }
    }
}

extension PublishCommand {
    /// The line on how the small forms and packs will be made.
    static func later(in folder: ServerFolder, isServed: Bool) -> String {
        isServed
            ? "small forms and packs follow; patchsrv status shows how far they are"
            : "next: `patchsrv optimize --data \(printable(folder.root.string))` makes small forms and packs, as a serve does"
    }
}

extension JSON {
    /// A publish's answer with the result of the optimization, after which nothing is pending.
    fileprivate func optimized(_ made: JSON) -> JSON {
        guard var object else { return self }
        object["formsPending"] = nil
        object["optimized"] = made
        return .object(object)
    }
}

extension PublishOutcome {
    fileprivate var isPublished: Bool { if case .drafted = self { false } else { true } }

    fileprivate var awaitsForms: Bool { if case .published(let done) = self { done.awaitsForms } else { false } }

    fileprivate var endings: [ReleaseExpiry.Warning] {
        if case .published(let done) = self { done.endings } else { [] }
    }

    fileprivate func dialHint(options: String) -> String? {
        guard case .published(let done) = self else { return nil }
        return DialLapse.hint(done.lapses, in: done.channel, options: options)
    }

    /// - Parameter options: The options that name the server in a further command, with a leading space.
    func lines(app: AppID, options: String = "") -> [String] {
        switch self {
        case .published(let done): done.lines(app: app, options: options)
        case .drafted(let channel, let version, let quorum):
            [
                "kept as a draft, \(quorum.valid) of \(Words.count(quorum.needed, "signature")): \(channel) \(version) of \(app)",
                "  nothing was published; publish it again with the missing signatures",
            ]
        case .alreadyPublished(let channel, let version, let change):
            ["\(channel) \(version) of \(app) is published already"]
                + change.repaired.map { "  replaced \($0), which was damaged" }
                + (change.files > change.repaired.count
                    ? ["  put back \(Words.count(change.files - change.repaired.count, "missing file"))"] : [])
        }
    }
}

extension Publication {
    fileprivate func lines(app: AppID, options: String) -> [String] {
        let signatures = Words.count(counts.signatures, "signature")
        var lines = [
            "published \(channel) \(version) of \(app)",
            "  verified \(Words.count(counts.entries, "patch", "patches")), \(Words.count(counts.assets, "asset")), \(signatures)",
            "  wrote \(Words.count(change.files, "file")), \(ByteText(change.bytes))",
            "  snapshot \(roles.snapshot), timestamp \(roles.timestamp), until \(roles.expires)",
        ]
        lines += started.map { "  \(printable($0.words(in: channel, options: options)))" }
        lines += heldBack.map { "  \(printable($0.holdWords))" }
        lines += lapses.map { "  \(printable($0.words))" }
        lines += developersWait.compactMap(\.warning).map { "  \(printable($0))" }
        lines += leftOutPacks.map { "  \(printable($0.words))" }
        if removedForms.files > 0 { lines.append("  \(removedForms.words)") }
        lines += change.repaired.map { "  replaced \($0), which was damaged" }
        return lines + removedDrafts.filter { $0 != version }.map { "  removed draft \($0), which is outdated" }
    }
}
