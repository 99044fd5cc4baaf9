import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// `patchsign release sign DIR`: adds one key holder's signature.
struct ReleaseSignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Show the changes of a release and add one signature to it.",
        discussion: """
            First, the whole release is verified. Its changes are shown against the release on --server or in the
            folder --previous; without both, its contents are shown. Then the command asks; scripts use --yes.

            A release from `patchsign pull` contains no objects. They are not checked, and their number is reported.

            EXAMPLES
              patchsign release sign work/release --keys Keys --key bob.key --server https://patches.example.com
              patchsign release sign v2.release --keys Keys --key bob.key --previous v1.release
            """
                + exitCodes(
                    [
                        .done: "signed",
                        .failed: "not signed: the answer was no",
                        .refused: "the release does not verify or the key may not sign for it",
                        .network: "no connection, or a server error",
                        .conflict: "the published release is not this release's base",
                    ],
                    usual: .malformed,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The signed release.", valueName: "dir"))
    var release: String

    @Option(
        help: ArgumentHelp(
            "Your release key: a key file (also its name in --keys), NAME.signer or a pkcs11: URI.",
            valueName: "key"
        )
    )
    var key: String

    @OptionGroup(title: "Keys") var keys: KeyOptions

    @OptionGroup var base: BaseOptions

    @OptionGroup var names: NamesOption

    @Flag(help: "Sign without asking.")
    var yes = false

    func run() async throws {
        try await runCommand { () async throws(Failure) in
            let folder = FilePath(argument: release)
            let key = try KeyReference(argument: key, in: keys.folder)
            let trust = try keys.rootOfTrust()
            let verified = try signing { () throws(SigningError) in
                try VerifiedRelease(folder: folder, rootOfTrust: trust, files: DiskFiles())
            }
            let contents = ReleaseContents(verified)
            // The release may be weeks old.
            let expiry = ReleaseExpiry(
                release: ReleaseExpiry.Role(contents.channel.text, expires: contents.expires),
                root: trust.root.header.expires,
                targets: trust.targets.header.expires
            )
            let now = ProcessEnvironment.latestPast
            try expiry.refuseExpired(at: now)
            try await show(contents, trust: trust)
            expiry.warn(at: now)
            if let words = verified.counts.unavailableNote { Console.standardOutput.line("  " + words) }
            let signer = try keys.open(key)
            if let own = trust.targets.delegation(to: contents.channel.text)?.keys,
                signer.hasSigned(verified.release.role, for: own)
            {
                let count = try trust.signatures(of: verified.release)
                return Console.standardOutput.line("\(printable(self.key)) has signed this release already; \(count)")
            }
            var signed = verified.release
            let delegation = try signing { () throws(SigningError) in
                let delegation = try trust.delegation(to: contents.channel)
                try signed.check(signer, for: delegation)
                return delegation
            }
            try Question.confirm(Question.release, yes: yes)
            try signing { () throws(SigningError) in
                try signed.sign(with: signer, for: delegation)
                try signed.saveRole(in: folder, files: DiskFiles())
            }
            Console.standardOutput.line("signed; " + (try trust.signatures(of: signed)))
        }
    }

    private func show(_ contents: ReleaseContents, trust: ReleaseTrust) async throws(Failure) {
        let base = try await base.current(of: contents.channel, trust)
        let console = Console.standardOutput
        console.line(
            "release \(contents.roleVersion) of \(contents.app) \(contents.channel), until \(contents.expires)"
        )
        guard let base else {
            ContentsTable(contents).write(to: console)
            return names.write(filesOf: contents, to: console)
        }
        guard contents.base?.sha256 == base.header.sha256 else {
            throw Failure(
                "\(base.folder.map(\.string) ?? "the published release \(base.contents.roleVersion)")"
                    + " is not the release that this one was made from",
                hint: contents.base.map { "it was made from version \($0.roleVersion)" }
                    ?? "it is the first release of its channel",
                code: .conflict
            )
        }
        names.write(ReleaseDifference(from: base.contents, to: contents), to: console)
    }
}
