import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// `patchsign key public KEY`.
struct KeyPublicCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "public",
        abstract: "Print the public half of a key, to send it to others.",
        discussion: """
            The output is PEM, as openssl writes it. The command asks for the passphrase of an encrypted file. A token
            shows its public keys without a PIN.

            EXAMPLES
              patchsign key public Keys/production.key
              patchsign key public kms.signer --output kms.pub
              patchsign key public 'pkcs11:token=release;object=production' --output token.pub
            """
                + exitCodes(
                    [
                        .refused: "the key does not open",
                        .conflict: "the output exists",
                    ],
                    usual: .done,
                    .malformed,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("A key file, NAME.pub, NAME.signer or a pkcs11: URI.", valueName: "key"))
    var key: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("A new file for the public key. Default: standard output.", valueName: "file")
    )
    var output: String?

    @OptionGroup(title: "Keys") var opening: KeyOpening

    func run() async throws {
        try await runCommand { () async throws(Failure) in
            let reference = try KeyReference(argument: key)
            let known = try signing { () throws(SigningError) in
                try reference.publicKey(module: opening.module, files: DiskFiles())
            }
            let pem = if let known { known.pem } else { try opening.open(reference).publicKey.pem }
            guard let output else { return Console.standardOutput.write(pem) }
            let file = FilePath(argument: output)
            try signing { () throws(SigningError) in
                try DiskFiles().writeNew(Array(pem.utf8), to: file, permissions: FilePermissions(rawValue: 0o644))
            }
        }
    }
}
