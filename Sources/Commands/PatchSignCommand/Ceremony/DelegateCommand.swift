import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTrust
import SystemPackage

/// `patchsign delegate`: adds a channel, or changes the keys of one.
struct DelegateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delegate",
        abstract: "Make a channel, change its keys or threshold, or retire it.",
        discussion: """
            A public key is PEM, made by its holder: `openssl genpkey -aes-256-cbc -algorithm RSA -pkeyopt
            rsa_keygen_bits:3072 -out canary.key`, then `openssl pkey -in canary.key -pubout -out canary.pub`. Instead
            of its file, you can give the name of NAME.pub in --keys, with or without .pub.

            Every key of the folder that may sign, and that opens, signs. If more signatures are needed, trust.draft
            is written for the other holders.

            EXAMPLES
              patchsign delegate canary --keys Keys --add-key canary.pub
              patchsign delegate production --keys Keys --add-key carol.pub --threshold 2
              patchsign delegate production --keys Keys --remove-key 1a2b3c4d
              patchsign delegate beta --keys Keys --retire        (ends the channel for good)
            """
                + exitCodes(
                    [
                        .conflict: "another draft waits",
                        .partial: "done in part: a draft waits for other signatures",
                    ],
                    usual: .done,
                    .refused,
                    .malformed,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The channel.", valueName: "channel"), transform: parsed)
    var channel: ChannelName

    @OptionGroup(title: "Keys") var keys: KeyOptions

    @Option(
        name: .customLong("add-key"),
        help: ArgumentHelp("A public key to add. Repeatable.", valueName: "pubfile|name")
    )
    var added: [String] = []

    @Option(
        name: .customLong("remove-key"),
        help: ArgumentHelp("A key to remove. Repeatable.", valueName: "pubfile|name|keyid")
    )
    var removed: [String] = []

    @Option(
        help: ArgumentHelp(
            "The number of keys that must sign. Default: as before; 1 for a new channel.",
            valueName: "count"
        )
    )
    var threshold: Int?

    @Flag(
        help: """
            End the channel for good: it accepts no new release, the server stops watching it, and its name cannot be \
            used again. Its devices keep their versions and report the end.
            """
    )
    var retire = false

    @Option(help: ArgumentHelp("Validity of the new targets. Default: 365d.", valueName: "365d"))
    var expires: Validity?

    @OptionGroup var time: TimeOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard !retire || added.isEmpty && removed.isEmpty && threshold == nil else {
            throw ValidationError("--retire ends the channel; it excludes --add-key, --remove-key and --threshold")
        }
    }

    func run() async throws {
        let isPublished = try await runCommand(json: json) { () async throws(Failure) in
            let work = try CeremonyWork(keys, time: try time.time(), json: json)
            try work.refusePending()
            return try work.carryOut(try edits(work), validity: expires.forTrust)
        }
        if !isPublished { throw ResultCode.partial.asError }
    }

    private func edits(_ work: CeremonyWork) throws(Failure) -> [TrustEdit] {
        if retire { return [.retire(channel)] }
        let role = try TrustArgument.role(
            channel.text,
            in: try signing { () throws(SigningError) in try work.trust.authorities() }
        )
        guard case .channel = role else {
            throw Failure("'\(channel)' is the name of a key, not of a channel", code: .usage)
        }
        var edits: [TrustEdit] = []
        for file in added { edits.append(.add(try TrustArgument.key(file, in: keys.folder), role)) }
        for text in removed { edits.append(.remove(try TrustArgument.selector(text, in: keys.folder), role)) }
        if let threshold { edits.append(.threshold(threshold, role)) }
        return edits
    }
}
