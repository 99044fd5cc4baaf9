import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// `patchsign jspatch verify FILE`.
struct JSPatchVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify a JSPatch signature, including every byte of its padding.",
        discussion: """
            JSPatch's own client accepts any bytes between two zero bytes. This command accepts only 00 01, at least
            eight ff, 00 and the digest in lowercase hex. Keys from 1,024 bits are accepted, because existing packages
            use them.

            EXAMPLES
              patchsign jspatch verify script.zip --signature key --public jspatch.pub
              patchsign jspatch verify fix.js --signature fix.sig --base64 --digest sha1 --public jspatch.pub
            """
                + exitCodes(
                    [
                        .done: "the signature is valid",
                        .refused: "the signature is not valid",
                        .malformed: "the key or the signature file is malformed",
                    ],
                    usual: .disk
                )
    )

    @Argument(help: ArgumentHelp("The signed file.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("The signature.", valueName: "file"))
    var signature: String

    @Option(name: .customLong("public"), help: ArgumentHelp("The public key, in PEM.", valueName: "file"))
    var publicKey: String

    @Option(help: ArgumentHelp("The digest: md5 or sha1.", valueName: "digest"))
    var digest = JSPatchDigest.md5

    @Flag(help: "The signature is base64.")
    var base64 = false

    func run() async throws {
        try await runCommand { () async throws(Failure) in
            let (keyFile, signatureFile) = (FilePath(argument: publicKey), FilePath(argument: signature))
            let pem = try read(keyFile)
            let bytes = try signatureBytes(try read(signatureFile), in: signatureFile)
            let fingerprint = try signing { () throws(SigningError) in
                try JSPatchFile.fingerprint(FilePath(argument: file))
            }
            do throws(JSPatchError) {
                try JSPatchPublicKey(pem: String(decoding: pem, as: UTF8.self))
                    .check(bytes, digest: digest, of: fingerprint)
            } catch .notPEM {
                throw Failure(SigningError.jspatch(keyFile, .notPEM))
            } catch { throw Failure(SigningError.jspatch(signatureFile, error)) }
            Console.standardOutput.line("valid: \(digest.rawValue) \(digest.text(of: fingerprint))")
        }
    }

    private func read(_ path: FilePath) throws(Failure) -> [UInt8] {
        do throws(FileError) { return try DiskFiles().read(path, limit: Limits.keyFile) } catch {
            throw Failure(SigningError.file(error))
        }
    }

    private func signatureBytes(_ read: [UInt8], in path: FilePath) throws(Failure) -> [UInt8] {
        guard base64 else { return read }
        let text = String(decoding: read.last == 0x0A ? read.dropLast() : read[...], as: UTF8.self)
        guard let bytes = Base64.bytes(text) else {
            throw Failure("\(path) is not padded base64 in one line", code: .malformed)
        }
        return bytes
    }
}
