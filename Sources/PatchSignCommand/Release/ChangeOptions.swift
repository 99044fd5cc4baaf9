import ArgumentParser
import CommandSupport
import Glibc
import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import ReleaseClient
import SystemPackage
import Terminal

/// What promote, rollback and withdraw share: a change that is proposed, made, signed and, with `--push`, published.
struct ChangeOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions
    @OptionGroup var making: MakingOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var time: TimeOption

    @Option(help: ArgumentHelp("Why, in one line.", valueName: "text"))
    var note: String?

    @Flag(help: "Upload what was made and have it published; then --output may be left out.")
    var push = false

    @Flag(help: "Sign without asking.")
    var yes = false

    @OptionGroup var names: NamesOption

    @Flag(help: "Print what was made as JSON.")
    var json = false

    func validate() throws {
        guard push || making.output != nil else { throw ValidationError("--push or --output is needed") }
    }

    /// Asks the server for the change and makes the release that carries it out.
    func carryOut(_ change: ProposedChange, in channel: ChannelName) async throws(Failure) {
        let trust = try keys.rootOfTrust()
        try await inOutput { (output) async throws(Failure) in
            let folder = try signing { () throws(SigningError) in
                let replacement = making.replacement(at: output, keys: keys.folder)
                return try PulledFolder(output, replacing: replacement, files: DiskFiles())
            }
            let proposal = try await server.asking { client throws(ServiceError) in
                try await client.propose(change, note: note, of: channel, in: trust.app)
            }
            let work = ProposalWork(
                server: server,
                channel: channel,
                making: making,
                keys: keys,
                time: try time.time(),
                asking: ProposalWork.Asking(yes: yes, names: names),
                trust: trust,
                folder: folder
            )
            do throws(Failure) {
                let report = try await work.run(proposal.id)
                try await finish(report, at: folder.output.at(PulledFolder.release), proposal: proposal.id)
            } catch {
                throw Failure(
                    error.message,
                    hint: (error.hint.map { "\($0)\n" } ?? "")
                        + "the proposal \(proposal.id) waits: `patchsign pull --proposal \(proposal.id)` makes it again",
                    exitCode: error.exitCode
                )
            }
        }
    }

    /// Says what was made, and pushes it where that is asked for.
    func finish(_ report: ReleaseReport, at release: FilePath, proposal: ProposalID? = nil) async throws(Failure) {
        let pushed = push ? try await server.push(release, notes: .fields([])) : nil
        guard !json else {
            var members = report.json.object ?? JSONObject()
            if let proposal { members["proposal"] = .text(proposal.text) }
            if let pushed { members["pushed"] = pushed.json }
            return Console.standardOutput.line(JSON.object(members).pretty())
        }
        report.write(json: false)
        pushed?.write()
    }

    /// Runs `work` with the folder that was named, or with one that goes away afterwards.
    func inOutput(_ work: (FilePath) async throws(Failure) -> Void) async throws(Failure) {
        if making.output != nil { return try await work(try making.outputFolder()) }
        let above = try Self.temporaryFolder()
        do throws(Failure) { try await work(above.at("work")) } catch {
            try? DiskFiles().removeTree(above)
            throw error
        }
        try? DiskFiles().removeTree(above)
    }

    /// A new folder that nobody else can look into.
    private static func temporaryFolder() throws(Failure) -> FilePath {
        let base = Surroundings.environment("TMPDIR") ?? "/tmp"
        var name = Array("\(base)/patchsign-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&name) != nil else {
            throw Failure("cannot make a folder in \(base): \(SystemError(errno).reason)", exitCode: .disk)
        }
        return FilePath(String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}

/// `web=10%`: the share of devices that a promoted version may be taken by.
struct PromotedShare: ExpressibleByArgument {
    let patchID: PatchID
    let share: Share

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let id = PatchID(parts[0]), let share = Share(parts[1]) else { return nil }
        (patchID, self.share) = (id, share)
    }

    static let help = ArgumentHelp(
        "Let so many devices take the newest version of a patch, in place of the other channel's rule; may stand several "
            + "times.",
        valueName: "patch=share%"
    )
}

extension ProposedChange {
    /// - Throws: where a patch stands twice.
    static func promotion(from channel: ChannelName, _ shares: [PromotedShare]) throws(Failure) -> ProposedChange {
        var rollouts: [PatchID: Int] = [:]
        for share in shares {
            guard rollouts.updateValue(share.share.tenThousandths, forKey: share.patchID) == nil else {
                throw Failure("--rollout names \(share.patchID) twice", exitCode: .usage)
            }
        }
        return .promote(from: channel, rollouts: rollouts)
    }
}
