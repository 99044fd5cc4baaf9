import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// `patchsign key new NAME`.
struct KeyNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Make a key pair: NAME.key (encrypted PKCS#8) and NAME.pub.",
        discussion: """
            Keys of entries and of JSPatch forms must be RSA. A role's key may be of any kind. Existing files are
            never replaced.

            EXAMPLES
              patchsign key new production-carol --keys Keys
              patchsign key new carol --keys Keys --kind ed25519 --passphrase-file secret.txt
            """
                + exitCodes(
                    [
                        .disk: "cannot write",
                        .conflict: "a file already exists",
                    ],
                    usual: .done
                )
    )

    @Argument(help: ArgumentHelp("The key's name, such as production-carol.", valueName: "name"))
    var name: String

    @Option(help: ArgumentHelp("The folder of the new key. It is created if it is missing.", valueName: "dir"))
    var keys: String

    @Option(help: ArgumentHelp("The kind of key: rsa, ed25519 or p256.", valueName: "kind"))
    var kind = Kind.rsa

    @Option(help: ArgumentHelp("The size of an RSA key. Default: 3072.", valueName: "bits"))
    var bits: Int?

    @OptionGroup var protection: ProtectionOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case rsa, ed25519, p256
    }

    func validate() throws {
        guard bits == nil || kind == .rsa else { throw ValidationError("--bits is for --kind rsa") }
    }

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let maker = try signing { () throws(SigningError) in
                try KeyMaker(name, in: FilePath(argument: keys), files: DiskFiles())
            }
            let protect = try protection.resolve()
            let made = try signing { () throws(SigningError) in
                try maker.make(keyKind, protection: protect(name))
            }
            write(made, maker)
        }
    }

    private var keyKind: KeyKind {
        switch kind {
        case .rsa: .rsa(bits: bits ?? 3_072)
        case .ed25519: .ed25519
        case .p256: .p256
        }
    }

    private func write(_ key: PublicKey, _ maker: KeyMaker) {
        let console = Console.standardOutput
        guard !json else {
            let members: [(String, JSON?)] = [
                ("key", .text(maker.keyFile.string)), ("public", .text(maker.publicFile.string)),
                ("kind", .text(key.kind.description)), ("keyid", .text(TUFKey(key).id.hex)),
                ("encrypted", .bool(!protection.unencryptedKeys)),
            ]
            return console.line(JSON.fields(members).pretty())
        }
        console.line("made \(printable(maker.keyFile.string)) (\(key.kind)), key id \(TUFKey(key).id.hex)")
        if protection.unencryptedKeys { console.line("the private key is NOT encrypted") }
        console.line(
            "next: list \(printable(maker.publicFile.string)) with --add-key of `patchsign root draft` or `patchsign delegate`"
        )
    }
}
