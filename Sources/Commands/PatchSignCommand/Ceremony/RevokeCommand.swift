import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// `patchsign revoke`: removes a key from every role that lists it.
struct RevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Remove a key from every role that lists it.",
        discussion: """
            KEY is the name of a .pub in the folder, a public key file, or at least eight hex digits of a key id. A
            role needs at least as many keys as its threshold: add a key with `patchsign delegate` or `root draft`, or
            lower the threshold. Releases that needed the key's signature must be signed again; the command names
            their channels.

            To replace the server's online key, use `patchsign rotate online`.

            EXAMPLES
              patchsign revoke production-bob --keys Keys
              patchsign revoke 1a2b3c4d --keys Keys --threshold production=1
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

    @Argument(help: ArgumentHelp("The key to remove.", valueName: "pubfile|keyid|name"))
    var key: String

    @OptionGroup(title: "Keys") var keys: KeyOptions

    @Option(
        name: .customLong("threshold"),
        help: ArgumentHelp(
            "The number of a role's keys that must sign from now on. Repeatable.",
            valueName: "role=count"
        )
    )
    var thresholds: [Assignment] = []

    @Option(help: ArgumentHelp("Validity of the changed root and targets. Default: 365d.", valueName: "365d"))
    var expires: Validity?

    @OptionGroup var time: TimeOption

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        let isPublished = try await runCommand(json: json) { () async throws(Failure) in
            let work = try CeremonyWork(keys, time: try time.time(), json: json)
            try work.refusePending()
            return try work.carryOut(try edits(work), validity: expires.forTrust)
        }
        if !isPublished { throw ResultCode.partial.asError }
    }

    private func edits(_ work: CeremonyWork) throws(Failure) -> [TrustEdit] {
        let selector = try selector(work)
        let authorities = try signing { () throws(SigningError) in try work.trust.authorities() }
        var edits = try signing { () throws(SigningError) in
            try authorities.revoking(selector, in: work.folder.folder)
        }
        for row in thresholds {
            let count = try TrustArgument.count(row.value, of: row.name)
            edits.append(.threshold(count, try TrustArgument.role(row.name, in: authorities)))
        }
        guard !edits.contains(where: { if case .remove(_, .online) = $0 { true } else { false } }) else {
            throw Failure(
                "this is the server's online key, without which nothing is served",
                hint: "replace it with `patchsign rotate online`",
                code: .usage
            )
        }
        return edits
    }

    private func selector(_ work: CeremonyWork) throws(Failure) -> KeySelector {
        let named = try signing { () throws(SigningError) in
            key.contains("/") ? nil : try KeyFolder(keys.folder, files: DiskFiles()).publicKey(key)
        }
        let selector: KeySelector =
            if let named { .key(named) } else { try TrustArgument.selector(key, in: keys.folder) }
        let isEntry = try signing { () throws(SigningError) in
            try KeyFolder(keys.folder, files: DiskFiles()).isEntryKey(selector)
        }
        guard !isEntry else {
            throw Failure(
                "this is the key that signs entries, which no role lists",
                hint: "replace it with `patchsign rotate entry`",
                code: .usage
            )
        }
        return selector
    }
}
