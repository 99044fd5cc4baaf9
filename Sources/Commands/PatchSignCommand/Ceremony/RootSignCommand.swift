import PatchFormat
import ArgumentParser
import CommandKit
import PatchRelease
import PatchTrust
import SystemPackage

/// `patchsign root sign`: adds one holder's signature.
struct RootSignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Show the changes of a draft and add one holder's signature.",
        discussion: """
            The key signs root, targets or both, as far as it is a key of the present or the next root. The draft is
            replaced in one step. The command asks before it signs; scripts use --yes.

            EXAMPLES
              patchsign root sign trust.draft --keys Keys --key root-alice.key
            """
                + exitCodes(
                    [
                        .done: "signed",
                        .failed: "not signed: the answer was no",
                        .refused: "refused, or the key may not sign it",
                        .conflict: "the draft was made from another root than the folder's",
                    ],
                    usual: .malformed,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The draft of the next root and targets.", valueName: "file"))
    var draft: String

    @Option(
        help: ArgumentHelp(
            "Your key: a key file (also its name in --keys), NAME.signer or a pkcs11: URI.",
            valueName: "key"
        )
    )
    var key: String

    @OptionGroup(title: "Keys") var keys: KeyOptions

    @Flag(help: "Sign without asking.")
    var yes = false

    func run() async throws {
        try await runCommand { () async throws(Failure) in
            let (folder, path) = (keys.trustFolder, FilePath(argument: draft))
            let key = try KeyReference(argument: key, in: keys.folder)
            let change = try signing { () throws(SigningError) in try folder.change(at: path) }
            let report = try TrustReport(change, in: folder)
            report.write(to: .standardOutput)
            for warning in report.warnings(at: ProcessEnvironment.latestPast) {
                Console.standardError.line(printable("warning: \(warning)"))
            }
            let signer = try keys.open(key)
            let roles = change.rolesToSign(with: signer.publicKey)
            try Question.confirm(Question.about(roles), yes: yes || roles.isEmpty)
            let signed = try signing { () throws(SigningError) in
                let signed = try folder.change(try change.signed(with: signer), at: path)
                try folder.save(signed.draft, to: path, replacing: true)
                return signed
            }
            let console = Console.standardOutput
            console.line("signed \(roles.joined(separator: " and "))")
            try TrustReport(signed, in: folder).writeQuorums(to: console)
            console.line(
                signed.isComplete
                    ? "next: `patchsign root publish \(printable(draft))`"
                    : "next: the other holders run `patchsign root sign`"
            )
        }
    }
}
