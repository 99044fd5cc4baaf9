import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import SystemPackage

/// `patchsign withdraw`: releases the previous list without a patch or a version.
struct WithdrawCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw",
        abstract: "Make a release that no longer lists a patch, or one version of it.",
        discussion: """
            A device with a withdrawn version leaves it at its next launch after it receives the new list. It changes
            to the first listed version it may install, else its previous confirmed version, else the embedded one,
            else none. This is final: no later release may list that version again.

            You can also withdraw a version that is no longer listed, for example after a rollback: --listed-by names
            a release that listed it. With --channel, the server finds that release. A second withdrawal changes
            nothing.

            Without --previous, the release is made from the published one, as in `patchsign promote`: the command
            shows the changes and asks. --push publishes it.

            EXAMPLES
              patchsign withdraw fix-search --previous v2.release --keys Keys --output v3.release
              patchsign withdraw web@2.0.0 --previous v2.release --keys Keys --output v3.release
              patchsign withdraw web@2.1.0 --previous v4.release --listed-by v2.release --keys Keys --output v5.release
              patchsign withdraw web@2.0.0 --channel production --keys Keys --push --server https://patches.example.com
            """
                + exitCodes(
                    [
                        .done: "done (also if other signatures are missing), or already withdrawn",
                        .failed: "not signed: the answer was no, or an external signer failed",
                        .malformed: "a document is not valid",
                        .network: "no connection, or a server error",
                        .conflict: "the output exists, or the channel has changed",
                    ],
                    usual: .refused,
                    .disk
                )
    )

    @Argument(
        help: ArgumentHelp("The patch to withdraw, or one version of it.", valueName: "patch[@version]"),
        transform: PatchReference.init(parsing:)
    )
    var subject: PatchReference

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp("Withdraw only this version; the same as PATCH@VERSION.", valueName: "version"),
        transform: parsed
    )
    var namedVersion: VersionLabel?

    private var patch: PatchID { subject.patchID }
    private var patchVersion: VersionLabel? { subject.version ?? namedVersion }

    @Option(
        help: ArgumentHelp(
            "The currently published release. Default: the one of --channel on --server.",
            valueName: "dir"
        )
    )
    var previous: String?

    @Option(
        help: ArgumentHelp(
            "An earlier release that listed the version, if --previous no longer does.",
            valueName: "dir"
        )
    )
    var listedBy: String?

    @Option(help: ArgumentHelp("The channel, if --previous is not given.", valueName: "name"), transform: parsed)
    var channel: ChannelName?

    @OptionGroup var options: ChangeOptions

    func validate() throws {
        _ = try subject.version(or: namedVersion)
        if previous == nil, channel == nil { throw ValidationError("--previous, or --channel and --server, is needed") }
        if listedBy != nil, previous == nil { throw ValidationError("--listed-by needs --previous") }
        if previous != nil, channel != nil {
            throw ValidationError("give one of --previous and --channel: the release names its channel")
        }
    }

    func run() async throws {
        try await runCommand(json: options.json) { () async throws(Failure) in
            if let channel {
                try await options.carryOut(.withdraw(patch, version: patchVersion), in: channel)
            } else {
                try await withdraw(from: FilePath(argument: previous ?? ""))
            }
        }
    }

    private func withdraw(from previous: FilePath) async throws(Failure) {
        let trust = try options.keys.rootOfTrust()
        let base = try ReleaseWork.base(previous, trust)
        if let gone = base.contents.withdrawal(of: patch, version: patchVersion) {
            return options.writeWithdrawn(gone, base.contents)
        }
        let earlier = try listedBy.map { (folder) throws(Failure) in
            try ReleaseWork.base(FilePath(argument: folder), trust)
        }
        if earlier == nil, !base.contents.lists(patch, version: patchVersion) {
            throw Self.notListed(
                patch,
                version: patchVersion,
                by: base.contents.roleVersion,
                again: again(in: base.contents.channel)
            )
        }
        try await options.inOutput { (output) async throws(Failure) in
            let work = try ReleaseWork(
                channel: base.contents.channel,
                base: base,
                trust: trust,
                time: try options.time.time(),
                making: options.making,
                keys: options.keys,
                output: output
            )
            let made = try await signing { () async throws(SigningError) in
                try await work.builder.withdraw(patch, version: patchVersion, from: base, listedBy: earlier)
            }
            let remake = Remake.command(again(in: base.contents.channel))
            try await options.finish(try work.written(made), at: output, remake: remake)
        }
    }

    /// - Parameter again: The command with which the server finds the release that listed it.
    static func notListed(
        _ id: PatchID,
        version: VersionLabel?,
        by release: Int,
        again: String
    ) -> Failure {
        let subject = version.map { "\(id) \($0)" } ?? id.text
        return Failure(
            "release \(release) does not list \(subject)",
            hint: "name an earlier release that listed it with --listed-by DIR, or have the server find it: `\(again)`",
            code: .malformed
        )
    }

    /// The command that makes the same change to the server's current release.
    private func again(in channel: ChannelName) -> String {
        let version = patchVersion.map { " --version \($0)" } ?? ""
        return "patchsign withdraw \(patch)\(version) --channel \(channel) --keys "
            + "\(shellWord(options.keys.keys)) --push\(options.server.words)"
    }
}
