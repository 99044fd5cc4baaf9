import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import SystemPackage

/// `patchsign release renew`: signs the same list again.
struct ReleaseRenewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Make the next release with the same content, a new expiry and the present keys.",
        discussion: """
            Use it before a release expires, after its channel's keys have changed, or to sign all entries with a new
            entry key. Devices download no patch again.

            With --server and --channel, it fetches and verifies the currently published release, as `patchsign
            release` does. Without a network, name its folder.

            After a key was revoked, the release may have fewer signatures than its channel needs now.
            --base-quorum-lost accepts it if everything else is valid. Check it with `patchsign inspect` first: no
            quorum vouches for its list.

            A thief's release has used up its number. --above N makes version N+1. `patchsrv trust` accepts it only
            together with a new online key.

            EXAMPLES
              patchsign release renew --channel production --server https://patches.example.com --keys Keys --output v3.release
              patchsign release renew v2.release --keys Keys --output v3.release
              patchsign release renew v2.release --keys Keys --output v3.release --base-quorum-lost
              patchsign release renew v2.release --keys Keys --output v9.release --base-quorum-lost --above 8
            """
                + exitCodes(
                    [
                        .done: "done (also if other signatures are missing)",
                        .refused: "refused, or the release's quorum is not complete",
                        .network: "no connection, or a server error",
                        .conflict: "the output exists, or a draft waits on the server",
                    ],
                    usual: .malformed,
                    .disk
                )
    )

    @Argument(
        help: ArgumentHelp(
            "The currently published release. Default: the one of --channel on --server.",
            valueName: "dir"
        )
    )
    var release: String?

    @Option(help: ArgumentHelp("The channel, if no folder is given.", valueName: "name"), transform: parsed)
    var channel: ChannelName?

    @OptionGroup(title: "Server") var server: ServerOptions
    @OptionGroup(title: "Server") var memory: MemoryOptions

    @Flag(help: "Accept a release that has fewer signatures than its channel needs now.")
    var baseQuorumLost = false

    @Option(help: ArgumentHelp("Make the version after this one, which a thief has used.", valueName: "version"))
    var above: Int?

    @OptionGroup var making: MakingOptions
    @OptionGroup(title: "Keys") var keys: KeyOptions
    @OptionGroup var time: TimeOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        switch (release, channel) {
        case (nil, nil): throw ValidationError("a release, or --channel and --server, is needed")
        case (_?, _?): throw ValidationError("give one of a release and --channel: the release names its channel")
        case (_?, nil):
            if server.server != nil { throw ValidationError("give one of a release and --server") }
        case (nil, _?): break
        }
        guard let above, !(1...(1 << 53 - 2)).contains(above) else { return }
        throw ValidationError("--above must be 1 to 9007199254740990; there is no version above a higher one")
    }

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let trust = try keys.rootOfTrust()
            let base = try await base(trust)
            let work = try ReleaseWork(
                channel: base.contents.channel,
                base: base,
                trust: trust,
                time: try time.time(),
                making: making,
                keys: keys
            )
            let made = try await signing { () async throws(SigningError) in try await work.builder.renew(base) }
            try work.finish(made, json: json)
        }
    }

    private func base(_ trust: ReleaseTrust) async throws(Failure) -> BaseRelease {
        let quorum = baseQuorumLost ? BaseRelease.SignatureRule.mayBeLost : .complete
        guard let release else { return try await published(trust, quorum) }
        do throws(SigningError) {
            return try BaseRelease(
                folder: FilePath(argument: release),
                rootOfTrust: trust,
                quorum: quorum,
                above: above ?? 0,
                files: DiskFiles()
            )
        } catch .incomplete(let path, let role, let valid, let needed) {
            let error = SigningError.incomplete(path, role: role, valid: valid, needed: needed)
            throw Failure(
                error.description,
                hint:
                    "if one of its keys was revoked since, add --base-quorum-lost; else the other holders sign it",
                code: .refused
            )
        } catch { throw Failure(error) }
    }

    private func published(
        _ trust: ReleaseTrust,
        _ quorum: BaseRelease.SignatureRule
    ) async throws(Failure) -> BaseRelease {
        guard let channel else { preconditionFailure("validated before") }
        let published = PublishedBase(server: server, memory: memory, trust: trust)
        guard let base = try await published.next(of: channel, quorum: quorum, above: above ?? 0) else {
            throw Failure(
                "\(channel) has no release to sign again",
                hint: "`patchsign release FOLDER --keys DIR --output NEW\(server.words)` makes its first one",
                code: .malformed
            )
        }
        return base
    }
}
