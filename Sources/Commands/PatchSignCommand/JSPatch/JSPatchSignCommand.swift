import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// `patchsign jspatch sign FILE`.
struct JSPatchSignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign a file's MD5 or SHA-1 as JSPatch's packer does.",
        discussion: """
            The raw signature is written to --output or to standard output; with --base64, as one line of text. With
            --keys, a key that signs entries or a role in that folder is refused: a JSPatch key has no other use.

            EXAMPLES
              patchsign jspatch sign script.zip --key jspatch.key --output key
              patchsign jspatch sign fix.js --key jspatch.key --digest sha1 --base64
            """
                + exitCodes(
                    [
                        .refused: "the key does not open or has another use",
                        .malformed: "the key is not an RSA key",
                        .conflict: "the output exists",
                    ],
                    usual: .done,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The file to sign.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("An RSA key of at least 2,048 bits, used only for this.", valueName: "key"))
    var key: String

    @Option(help: ArgumentHelp("The digest: md5 or sha1.", valueName: "digest"))
    var digest = JSPatchDigest.md5

    @Flag(help: "Write the signature as base64.")
    var base64 = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("A new file for the signature. Default: standard output.", valueName: "file")
    )
    var output: String?

    @Option(help: ArgumentHelp("Refuse a key that signs entries or a role in this folder.", valueName: "dir"))
    var keys: String?

    @OptionGroup(title: "Keys") var opening: KeyOpening

    func run() async throws {
        try await runCommand { () async throws(Failure) in
            let signer = try opening.open(try KeyReference(argument: key, inFolder: keys))
            let signature = try signing { () throws(SigningError) in
                if let keys {
                    try ReleaseTrust(folder: FilePath(argument: keys), policy: .ofThisProcess, files: DiskFiles())
                        .checkJSPatchKey(signer, files: DiskFiles())
                }
                let fingerprint = try JSPatchFile.fingerprint(FilePath(argument: file))
                return try signer.signJSPatch(digest, of: fingerprint)
            }
            try write(base64 ? Array("\(Base64.text(signature))\n".utf8) : signature)
        }
    }

    private func write(_ bytes: [UInt8]) throws(Failure) {
        guard let output else { return Console.standardOutput.write(bytes) }
        let file = FilePath(argument: output)
        try signing { () throws(SigningError) in
            try DiskFiles().writeNew(bytes, to: file, permissions: FilePermissions(rawValue: 0o644))
        }
    }
}
