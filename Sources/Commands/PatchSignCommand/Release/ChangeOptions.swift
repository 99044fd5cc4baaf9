import ArgumentParser
import CommandKit
import Glibc
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseClient
import SystemPackage

/// The common options of promote, rollback and withdraw: a change that is proposed, made, signed and, with `--push`, published.
struct ChangeOptions: ParsableArguments {
    @OptionGroup(title: "Server") var server: ServerOptions
    @OptionGroup(title: "Server") var memory: MemoryOptions
    @OptionGroup var making: MakingOptions
    @OptionGroup(title: "JSPatch") var packages: PackageOptions
    @OptionGroup(title: "Keys") var keys: KeyOptions
    @OptionGroup var time: TimeOption

    @Option(help: ArgumentHelp("The reason, in one line.", valueName: "text"))
    var note: String?

    @Flag(help: "Upload and publish the release. --output is then optional.")
    var push = false

    @Flag(help: "Sign without asking.")
    var yes = false

    @OptionGroup var names: NamesOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard push || making.output != nil else { throw ValidationError("--push or --output is needed") }
    }

    /// Proposes the change to the server, and makes its release.
    ///
    /// If making fails, the user declines or the change has no effect, the proposal is withdrawn.
    ///
    /// - Parameter mayGoBack: Whether a promotion may list versions below the channel's newest.
    func carryOut(
        _ change: ProposedChange,
        in channel: ChannelName,
        mayGoBack: Bool = false
    ) async throws(Failure) {
        if change.alwaysSigns, !making.unsigned { try Question.requireConfirmation(yes: yes) }
        let trust = try keys.rootOfTrust()
        try await inOutput { (output) async throws(Failure) in
            let folder = try signing { () throws(SigningError) in
                let replacement = making.replacement(at: output, keys: keys.folder)
                return try PulledFolder(output, replacing: replacement, files: DiskFiles())
            }
            let time = try time.time()
            let proposal = try await server.asking { client throws(ServiceError) in
                try await client.propose(change, note: note, of: channel, in: trust.app)
            }
            let waiting = WaitingProposal(id: proposal.id, app: trust.app, channel: channel, options: self)
            let work = ProposalWork(
                server: server,
                channel: channel,
                making: making,
                keys: keys,
                time: time,
                asking: ProposalWork.Asking(yes: yes, names: names, mayGoBack: mayGoBack),
                memory: memory,
                packages: packages,
                trust: trust,
                folder: folder
            )
            let outcome: ProposalWork.Outcome
            do throws(Failure) {
                outcome = try await work.run(proposal.id, asked: change, onlyIfChanged: true)
            } catch { throw await waiting.withdrawn(after: error) }
            switch outcome {
            case .made(let made):
                do throws(Failure) {
                    try await finish(made, at: folder.output.at(PulledFolder.release), proposal: proposal.id)
                } catch { throw Failure(error.message, hint: waiting.hint(after: error), code: error.code) }
                if case .rollBack = change, !json { adviseWithdrawal(of: made.mayReturn, in: channel) }
            case .unchanged(let base):
                if let trouble = await waiting.withdrawn() { throw trouble }
                writeNothingToDo(base)
            case .alreadyWithdrawn(let gone, let base):
                if let trouble = await waiting.withdrawn() { throw trouble }
                writeWithdrawn(gone, base)
            }
        }
    }

    private func writeNothingToDo(_ base: ReleaseContents) {
        guard !json else { return Console.standardOutput.line(nothingToDo(base, withdrawn: nil).pretty()) }
        let release = "release \(base.roleVersion), until \(base.expires)"
        Console.standardOutput.line("nothing to do: \(base.channel) lists this already (\(release))")
        Console.standardError.line("hint: `patchsign release renew` signs the same list again, with a new expiry")
    }

    /// The output for a version that is withdrawn already.
    func writeWithdrawn(_ gone: WithdrawnVersion, _ base: ReleaseContents) {
        guard !json else { return Console.standardOutput.line(nothingToDo(base, withdrawn: gone).pretty()) }
        Console.standardOutput.line("nothing to do: \(gone.alreadyWithdrawnNote)")
    }

    private func nothingToDo(_ base: ReleaseContents, withdrawn: WithdrawnVersion?) -> JSON {
        .fields([
            ("outcome", .text("nothingToDo")), ("channel", .text(base.channel.text)),
            ("roleVersion", .integer(base.roleVersion)), ("withdrawn", withdrawn?.json),
        ])
    }

    /// Prints, after a rollback, hints for the versions that a later release may list again.
    private func adviseWithdrawal(of labels: [Label], in channel: ChannelName) {
        for line in withdrawalHints(of: labels, in: channel) { Console.standardError.line("hint: \(printable(line))") }
    }

    /// One hint for each of the first three versions.
    func withdrawalHints(of labels: [Label], in channel: ChannelName) -> [String] {
        labels.prefix(3).map { label in
            let subject = shellWord("\(label.patchID)@\(label.version)")
            return "a later release may list \(label) again; "
                + "`patchsign withdraw \(subject) --channel \(channel) --keys \(shellWord(keys.keys)) "
                + "--push\(server.words)` makes its removal final"
        }
    }

    /// Reports the release, and pushes it if requested.
    ///
    /// - Parameter remake: How the release is made again if the channel has a newer one.
    func finish(
        _ report: ReleaseReport,
        at release: FilePath,
        proposal: ProposalID? = nil,
        remake: Remake = .elsewhere
    ) async throws(Failure) {
        var report = report
        // A temporary folder is removed before the user could open it, so the report must not name it.
        if making.output == nil { report.folder = nil }
        let pushed =
            push ? try await server.push(release, notes: .fields([]), namingCommands: !json, remake: remake) : nil
        guard !json else {
            var members = report.json.object ?? JSONObject()
            if let proposal { members["proposal"] = .text(proposal.text) }
            if let pushed { members["pushed"] = pushed.json }
            return Console.standardOutput.line(JSON.object(members).pretty())
        }
        report.write(json: false)
        pushed?.write(to: server)
        report.warnOfUnmet()
    }

    /// Runs `work` with the given output folder, or with a temporary one that is removed afterwards.
    func inOutput(_ work: (FilePath) async throws(Failure) -> Void) async throws(Failure) {
        if making.output != nil { return try await work(try making.outputFolder()) }
        let above = try Self.temporaryFolder()
        do throws(Failure) { try await work(above.at("work")) } catch {
            try? DiskFiles().removeTree(above)
            throw error
        }
        try? DiskFiles().removeTree(above)
    }

    static func noFolder(in base: String, _ error: SystemError) -> Failure {
        Failure("cannot make a folder in \(base): \(error.reason)", hint: "TMPDIR names another", code: .disk)
    }

    /// A new folder that only this user can read.
    private static func temporaryFolder() throws(Failure) -> FilePath {
        let base = ProcessEnvironment.environment("TMPDIR") ?? "/tmp"
        var name = Array("\(base)/patchsign-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&name) != nil else {
            throw noFolder(in: base, SystemError(errno))
        }
        return FilePath(String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}

extension ProposedChange {
    /// Whether it is known before the server answers that the change needs a signature.
    ///
    /// A version may be withdrawn already, and a release listed already; then the user is not asked.
    var alwaysSigns: Bool {
        switch self {
        case .promote, .rules: true
        case .rollBack, .withdraw: false
        }
    }

    /// - Throws: an error if a patch is named twice.
    static func promotion(from channel: ChannelName, _ shares: [PromotedShare]) throws(Failure) -> ProposedChange {
        var rollouts: [PatchID: Int] = [:]
        for share in shares {
            guard rollouts.updateValue(share.share.tenThousandths, forKey: share.patchID) == nil else {
                throw Failure("--rollout names \(share.patchID) twice", code: .usage)
            }
        }
        return .promote(from: channel, rollouts: rollouts)
    }
}

extension WithdrawnVersion {
    /// `web 2.1.0 is already withdrawn, since release 9 (2026-11-23T08:00:00Z)`: lists and releases of a channel are numbered alike.
    var alreadyWithdrawnNote: String { "\(label) is already withdrawn, since release \(serial) (\(since))" }
}
