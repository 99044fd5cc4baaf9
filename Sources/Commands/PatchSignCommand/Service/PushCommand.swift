import ArgumentParser
import CommandKit
import NIOConcurrencyHelpers
import PatchFormat
import PatchRelease
import PatchStore
import ReleaseClient
import ReleaseFolder
import SystemPackage

/// `patchsign push RELEASE`: uploads a release to a release service.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Upload a signed release to a server and publish it.",
        discussion: """
            Only files that the server lacks are sent, six parts at a time. An interrupted push resumes at the same
            byte. The server verifies everything before any of it is visible. A release with fewer signatures than its
            channel needs is kept as a draft; the next signer pushes it again, with or without objects.

            If the release's base is next to it, or named with --previous, bundles are sent as packs from versions on the
            server, without the files that the server makes itself. Otherwise, or if that fails, the parts are sent.

            If the channel has changed since the release was made, nothing is published, and the hint names the
            command that makes it again, or the draft that waits.

            With --rollout, --paused or --ramp, devices see the release and the share of its new versions together. A
            draft keeps these settings until its last signature. `patchsrv rollout` raises the share later,
            with an operator's token.

            The token is read from --token-file or PATCHLINE_TOKEN. It is never printed, and never sent without TLS
            except to this machine (or with --insecure-http).

            EXAMPLES
              patchsign push v2.release --server https://patches.example.com --token-file ci.token
              patchsign push v2.release --previous releases/v1 --server https://patches.example.com
              patchsign push v2.release --server https://patches.example.com --label "spring sale" --commit "$COMMIT"
              patchsign push v2.release --server https://patches.example.com --rollout 10%
              patchsign push v2.release --server https://patches.example.com --ramp 1%,5%,25%,100% --every 6h
            """
                + exitCodes(
                    [
                        .done: "published, kept as a draft, or already published",
                        .refused: "refused: the token, or a rule that the release breaks",
                        .malformed: "the release is malformed",
                        .network: "no connection, or a server error",
                        .conflict: "the channel has changed since the release was made, or another draft waits",
                    ],
                    usual: .disk
                )
    )

    @Argument(help: ArgumentHelp("The signed release.", valueName: "dir"))
    var release: String

    @Option(
        help: ArgumentHelp(
            "The previously pushed release, to upload less. Default: the release's base, if it is next to it.",
            valueName: "dir"
        )
    )
    var previous: String?

    @OptionGroup(title: "Server") var server: ServerOptions
    @OptionGroup var notes: NotesOptions
    @OptionGroup var rollout: StartingRolloutOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let previous = previous.map { FilePath(argument: $0) }
            let report = try await server.push(
                FilePath(argument: release),
                from: previous,
                notes: notes.json,
                starting: rollout.wish,
                namingCommands: !json
            )
            if rollout.wish != nil, report.outcome == .alreadyPublished {
                Console.standardError.line("warning: \(StartingRolloutOptions.tooLate)")
            }
            guard !json else { return Console.standardOutput.line(report.json.pretty()) }
            report.write(to: server)
        }
    }
}

extension ServerOptions {
    /// The result of a push.
    private enum Answer: Sendable {
        case taken(PushReport)
        /// The channel has a newer release. The state is nil if the server does not report it.
        case stale(ServiceProblem, ChannelState?)
    }

    /// Uploads a release and requests its publication.
    ///
    /// - Parameters:
    ///   - previous: An earlier release, parts of which the server has. It is not trusted. Without it, neighbouring folders are
    ///     searched.
    ///   - rollout: The initial rollout of its new versions.
    ///   - namesCommands: Whether commands for the caller are printed, which depend on the rights of its token.
    ///   - remake: How the release is made again if the channel has a newer one.
    func push(
        _ folder: FilePath,
        from previous: FilePath? = nil,
        notes: JSON,
        starting rollout: StartingRollout? = nil,
        namingCommands namesCommands: Bool = true,
        remake: Remake? = nil
    ) async throws(Failure) -> PushReport {
        let signed = try signing { () throws(SigningError) in try SignedRelease(reading: folder, files: DiskFiles()) }
        let base =
            try previous.map { (folder) throws(Failure) in
                try signing { () throws(SigningError) in try SignedRelease(reading: folder, files: DiskFiles()) }
            } ?? NearbyRelease.base(of: signed, at: folder, files: DiskFiles())
        let progress = PushProgress()
        let (app, channel) = (signed.header.app, signed.header.channel)
        let answer = try await asking { client throws(ServiceError) in
            do throws(ServiceError) {
                let push = ReleasePush(
                    signed,
                    from: base,
                    packLimit: previous == nil ? ReleasePush.smallPack : nil,
                    to: client,
                    files: DiskFiles()
                ) { progress.show($0) }
                var report = try await push.run(notes: notes, starting: rollout)
                // The release is published: without an answer, the commands are printed with the caller's own token.
                if namesCommands, report.namesCommand {
                    report.mayOperate = try? await client.mayOperate(channel, of: app)
                }
                return Answer.taken(report)
            } catch .problem(let problem) where problem.status == 409 && problem.rule == "base" {
                // Without the state, the server's own advice is shown.
                return .stale(problem, try? await client.state(of: channel, in: app))
            }
        }
        switch answer {
        case .taken(let report): return report
        case .stale(let problem, nil): throw Failure(.problem(problem))
        case .stale(let problem, let state?):
            throw Failure(
                problem.detail,
                hint: StaleRelease(OfferedRelease(signed), on: state).hint(
                    in: channel,
                    base: signed.header.base?.roleVersion ?? 0,
                    server: words,
                    remake: remake ?? signed.header.proposal.map { .proposal($0) } ?? .folder
                ),
                code: .conflict
            )
        }
    }
}

extension PushReport {
    /// - Parameter server: The server options for the commands in hints.
    func write(to server: ServerOptions) {
        let console = Console.standardOutput
        let what = "\(channel) \(roleVersion) of \(app)"
        if sent.parts > 0 {
            let travelled = sent.travelled < sent.bytes ? " (\(Words.bytes(sent.travelled)) compressed)" : ""
            let packs = sent.packs > 0 ? "; \(Words.count(sent.packs, "pack")) among them" : ""
            console.line("sent \(Words.count(sent.parts, "part")), \(Words.bytes(sent.bytes))\(travelled)\(packs)")
        }
        switch outcome {
        case .published:
            console.line("published \(what)")
            for line in started.map({ completed($0, with: server) }) + heldBack + lapses + developersWait + leftOutPacks
            {
                console.line("  \(printable(line))")
            }
            for warning in warnings { Console.standardError.line("warning: \(printable(warning))") }
            if let dialHint {
                Console.standardError.line("hint: \(printable(completed(dialHint, with: server)))")
            }
            if namesCommand, mayOperate == false {
                Console.standardError.line("hint: \(Self.operatorHint(in: channel, of: app))")
            }
        case .drafted(let signatures, let threshold):
            console.line("kept as a draft, \(signatures) of \(Words.count(threshold, "signature")): \(what)")
            console.line(
                "next: another key holder runs "
                    + "`patchsign pull --channel \(channel) --keys DIR --output work\(server.words)`, "
                    + "`patchsign release sign work/release --keys DIR --key FILE --previous work/base` and "
                    + "`patchsign push work/release\(server.words)`"
            )
        case .alreadyPublished: console.line("\(what) is published already")
        }
    }

    private func completed(_ line: String, with server: ServerOptions) -> String {
        Self.completed(line, in: channel, options: server.operatorWords(withOwnToken: mayOperate ?? true))
    }

    /// The remedy if the token may not run the command of a line.
    static func operatorHint(in channel: ChannelName, of app: AppID) -> String {
        "the command needs a token with the role operator; where the server runs: `patchsrv token new NAME "
            + "--grant \(app)/\(channel)=operator --output \(ServerOptions.operatorToken) --data DIR`"
    }

    /// A line of the server, completed with the options that its command needs on this machine.
    ///
    /// The server does not know them.
    static func completed(_ line: String, in channel: ChannelName, options: String) -> String {
        guard line.contains("patchsrv ") else { return line }
        let named = " --channel \(channel)"
        return line.replacing(named, with: named + options, maxReplacements: 1)
    }

    /// The server's answer, and the amounts of data sent.
    var json: JSON {
        var members = answer.object ?? JSONObject()
        members["sentParts"] = .integer(sent.parts)
        members["sentPacks"] = .integer(sent.packs)
        members["sentBytes"] = .integer(sent.bytes)
        members["travelledBytes"] = .integer(sent.travelled)
        return .object(members)
    }
}

/// Shows the upload as a line of progress on standard error.
final class PushProgress: Sendable {
    static let waiting = "The server verifies the release"

    private let report = NIOLockedValueBox<ProgressReport?>(nil)

    func show(_ event: ReleasePush.Event) {
        switch event {
        case .began(let parts, let bytes):
            let report = ProgressReport("Sending \(Words.count(parts, "part"))", total: bytes, unit: .bytes)
            self.report.withLockedValue { $0 = report }
        case .sent(let bytes): report.withLockedValue(\.self)?.advance(by: bytes)
        case .ended:
            report.withLockedValue(\.self)?.finish()
            report.withLockedValue { $0 = nil }
        case .failed:
            report.withLockedValue(\.self)?.abandon()
            report.withLockedValue { $0 = nil }
        case .packFailed(let reason):
            Console.standardError.line("warning: the server rejected a pack: \(printable(reason)); its parts are sent")
        case .publishing:
            if Console.standardError.isTerminal { Console.standardError.line(Self.waiting) }
        }
    }
}
