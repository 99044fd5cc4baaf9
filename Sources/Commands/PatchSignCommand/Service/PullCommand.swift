import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseClient
import ReleaseFolder
import SystemPackage

/// `patchsign pull`: downloads a release from a release service, for inspection and signing.
struct PullCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Fetch the published release, and the draft or proposal that waits for signatures.",
        discussion: """
            work/base is the channel's published release, verified from the root in --keys. work/release is the draft
            that waits for signatures. Both omit objects: their digests are signed, and their bytes stay on the
            server. Use work/base wherever --previous is needed, also for `patchsign release FOLDER`.

            With --proposal, the release is made here from verified published bytes, never from unverified data of the
            server. A promotion copies manifests and signatures byte by byte and signs the list's entries for the new
            channel. The command shows the changes, asks, signs and writes work/release. --key, --entry-key and the
            other options of `patchsign release` apply only here.

            EXAMPLES
              patchsign pull --server https://patches.example.com --channel production --keys Keys --output work
              patchsign release sign work/release --keys Keys --key bob.key --previous work/base
              patchsign push work/release --server https://patches.example.com
              patchsign pull --server https://patches.example.com --channel production --keys Keys --output work \\
                --proposal 0123456789abcdef
              patchsign push work/release --server https://patches.example.com
            """
                + exitCodes(
                    [
                        .failed: "not signed: the answer was no",
                        .refused: "refused: the token, other package keys than before, or failed verification",
                        .malformed: "a document is not valid, or there is nothing to fetch",
                        .network: "no connection, or a server error",
                        .conflict: "the output exists, or the proposal is already done",
                    ],
                    usual: .done,
                    .disk
                )
    )

    @OptionGroup(title: "Server") var server: ServerOptions
    @OptionGroup(title: "Server") var memory: MemoryOptions

    @Option(help: ArgumentHelp("The channel.", valueName: "channel"), transform: parsed)
    var channel: ChannelName

    @Option(
        help: ArgumentHelp(
            "The draft's version. Default: the one that can become the next release.",
            valueName: "version"
        )
    )
    var draft: Int?

    @Option(help: ArgumentHelp("The proposed change to carry out.", valueName: "id"), transform: parsed)
    var proposal: ProposalID?

    @OptionGroup var making: MakingOptions
    @OptionGroup(title: "JSPatch") var packages: PackageOptions
    @OptionGroup(title: "Keys") var keys: KeyOptions
    @OptionGroup var time: TimeOption

    @Flag(help: "Sign the proposed change without asking.")
    var yes = false

    @Flag(help: PromotionBack.help)
    var back = false

    @OptionGroup var names: NamesOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        if draft != nil, proposal != nil { throw ValidationError("give one of --draft and --proposal") }
        guard let draft, !(1...(1 << 53 - 1)).contains(draft) else { return }
        throw ValidationError("--draft must be a version")
    }

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let trust = try keys.rootOfTrust()
            let output = try making.outputFolder()
            let folder = try signing { () throws(SigningError) in
                try PulledFolder(
                    output,
                    replacing: making.replacement(at: output, keys: keys.folder),
                    files: DiskFiles()
                )
            }
            if let proposal {
                let work = ProposalWork(
                    server: server,
                    channel: channel,
                    making: making,
                    keys: keys,
                    time: try time.time(),
                    asking: ProposalWork.Asking(yes: yes, names: names, mayGoBack: back),
                    memory: memory,
                    packages: packages,
                    trust: trust,
                    folder: folder
                )
                switch try await work.run(proposal, asked: nil, onlyIfChanged: false) {
                case .made(let report): report.write(json: json)
                case .unchanged(let base):
                    throw Self.needless("\(base.channel) lists this already", proposal, in: channel)
                case .alreadyWithdrawn(let gone, _):
                    throw Self.needless(gone.alreadyWithdrawnNote, proposal, in: channel)
                }
            } else {
                try await fetch(trust, into: folder)
            }
        }
    }

    /// The failure for a proposal without effect.
    static func needless(_ reason: String, _ proposal: ProposalID, in channel: ChannelName) -> Failure {
        Failure(
            "the proposal \(proposal) would change nothing: \(reason)",
            hint: "`patchsrv proposal remove \(proposal) --channel \(channel)` removes it",
            code: .conflict
        )
    }

    private func fetch(_ trust: ReleaseTrust, into folder: PulledFolder) async throws(Failure) {
        let root = try trust.rootBytes()
        let memory = try memory.ofServer(try server.url(), app: trust.app)
        let (seen, base, draft) = try await server.asking { client throws(ServiceError) in
            let published = try await PublishedApp(
                trust.app,
                root: root,
                at: ProcessEnvironment.latestPast,
                knowing: memory.known,
                from: client
            )
            let base = try await published.release(of: channel)
            var version = self.draft
            if version == nil { version = try await client.waitingDraft(of: channel, in: trust.app)?.version }
            var draft: SignedRelease?
            if let version {
                let known = base.map { Array($0.targets.values) } ?? []
                draft = try await client.draft(of: channel, version: version, in: trust.app, known: known)
            }
            return (published.seen, base, draft)
        }
        await memory.keep(seen)
        guard base != nil || draft != nil else {
            throw Failure("\(channel) has no release, and no draft waits", code: .malformed)
        }
        let parts = [(PulledFolder.base, base), (PulledFolder.release, draft)]
        let verified = try signing { () throws(SigningError) in
            try folder.write(parts.compactMap { name, release in release.map { (name, $0) } }, rootOfTrust: trust)
        }
        PullReport(
            folder: folder.output,
            base: base == nil ? nil : verified.first,
            release: draft == nil ? nil : verified.last,
            signatures: try draft.map { (draft) throws(Failure) in try trust.signatures(of: draft) } ?? "",
            names: names,
            server: server,
            keys: keys.keys
        ).write(json: json)
    }
}

extension ReleaseTrust {
    /// `production: 1 of 2 signatures by production-alice (1a2b3c4d); may still sign: production-bob (5e6f7a8b)`.
    func signatures(of release: SignedRelease) throws(Failure) -> String {
        printable(
            try signing { () throws(SigningError) in
                try signatureWords(for: release.header.channel, on: release.role, files: DiskFiles())
            }
        )
    }

    /// The trusted root, from which everything else is verified.
    func rootBytes() throws(Failure) -> [UInt8] {
        do throws(FileError) {
            return try DiskFiles().read(folder.at(Self.rootFile), limit: Limits.root)
        } catch { throw Failure(SigningError.file(error)) }
    }
}

/// The result of `pull`.
struct PullReport {
    let folder: FilePath
    let base: VerifiedRelease?
    let release: VerifiedRelease?
    /// The keys that have signed, and those that may still sign.
    let signatures: String
    let names: NamesOption
    /// The options for the commands in hints.
    let server: ServerOptions
    let keys: String

    func write(json: Bool) {
        let console = Console.standardOutput
        guard !json else { return console.line(self.json.pretty()) }
        if let base { console.line("\(Self.line(base)): \(printable(folder.at(PulledFolder.base).string))") }
        guard let release, let difference else { return console.line("no draft waits") }
        let place = printable(folder.at(PulledFolder.release).string)
        console.line("draft \(Self.line(release)): \(place)")
        names.write(difference, to: console)
        if let words = release.counts.unavailableNote { console.line("  " + words) }
        if !isCurrent {
            console.line("  \(Self.late)")
        }
        console.line(signatures)
        let word = shellWord(folder.at(PulledFolder.release).string)
        let previous = base == nil ? "" : " --previous \(shellWord(folder.at(PulledFolder.base).string))"
        console.line("next: patchsign release sign \(word) --keys \(shellWord(keys)) --key FILE\(previous)")
        console.line("      patchsign push \(word)\(server.words)")
    }

    static let late = "! it was made from another release than the current one, so it cannot be published"

    private static func line(_ release: VerifiedRelease) -> String {
        let header = release.release.header
        return "release \(header.roleVersion) of \(header.app) \(header.channel), until \(release.role.header.expires)"
    }

    private var difference: ReleaseDifference? {
        release.map { ReleaseDifference(from: base.map { ReleaseContents($0) }, to: ReleaseContents($0)) }
    }

    private var isCurrent: Bool {
        release?.release.header.base?.sha256 == base?.release.role.identity
    }

    private var json: JSON {
        .fields([
            ("folder", .text(folder.string)), ("base", base.map { ReleaseContents($0).json } ?? .null),
            ("release", release.map { ReleaseContents($0).json } ?? .null),
            ("difference", difference?.json), ("current", release == nil ? nil : .bool(isCurrent)),
            ("unseen", release.map { .integer($0.counts.unseen) }), ("roleSignatures", release?.quorum.json),
        ])
    }
}
