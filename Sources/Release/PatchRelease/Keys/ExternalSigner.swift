import Linux
import FoundationEssentials
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// A command that signs, for a cloud KMS or a machine that is only reachable by `ssh`.
///
/// ```yaml
/// command: [./kms-sign.sh, release-key]    # without a shell; a relative path is relative to this file
/// public: release.pub                      # relative to this file
/// timeout: 60                              # seconds
/// ```
///
/// The command reads the message from its standard input and writes the raw signature to its standard output. PATCHLINE_SCHEME,
/// PATCHLINE_KEYID and PATCHLINE_PURPOSE describe the signature.
struct ExternalSigner: Sendable {
    static let defaultTimeout = 60

    let file: FilePath
    let publicKey: PublicKey
    private let command: [String]
    private let timeout: Int
    /// Environment variables that the command does not receive, because they contain secrets of other keys.
    private let hidden: [String]

    init(_ file: FilePath, hiding hidden: [String] = [], files: any FileOperations) throws(SigningError) {
        let bytes = try onDisk { () throws(FileError) in try files.read(file, limit: Limits.keyFile) }
        let folder = file.parent
        let publicFile: FilePath
        do throws(DescriptionError) {
            let name = file.name ?? file.string
            let document = try YAMLDocument(bytes, named: name)
            if let mistake = document.mistakes.first { throw mistake }
            do throws(FormatError) {
                let fields = try Fields(document.json, of: name)
                try fields.allow(["command", "public", "timeout"])
                let command = try fields.texts("command", limit: 100)
                guard let program = command.first, !program.isEmpty, command.allSatisfy({ !$0.utf8.contains(0) }) else {
                    throw fields.broken("command", "must name a program")
                }
                self.command = [Self.place(program, below: folder)] + command.dropFirst()
                publicFile = folder.pushing(FilePath(try fields.words("public"))).lexicallyNormalized()
                timeout =
                    fields.has("timeout") ? try fields.integer("timeout", in: 1...3_600) : Self.defaultTimeout
            } catch { throw DescriptionError(error, lines: document.lines) }
        } catch { throw .description(error) }
        publicKey = try PublicKey(file: publicFile, files: files)
        self.file = file
        self.hidden = hidden
    }

    /// The path of a program.
    ///
    /// A name without a slash is searched on PATH.
    private static func place(_ program: String, below folder: FilePath) -> String {
        guard program.contains("/"), !program.hasPrefix("/") else { return program }
        return folder.pushing(FilePath(program)).lexicallyNormalized().string
    }

    func sign(
        _ message: [UInt8],
        scheme: SignatureScheme,
        purpose: SigningPurpose
    ) throws(SigningError) -> [UInt8] {
        do throws(KeyError) { try scheme.check(publicKey.kind) } catch { throw .key(file, error) }
        let signature = try output(
            over: message,
            scheme: scheme.rawValue,
            keyID: purpose.keyID(of: publicKey),
            purpose: purpose.name
        )
        guard publicKey.verifies(signature, over: message, scheme: scheme) else {
            throw .signer(file, .doesNotVerify(bytes: signature.count))
        }
        return signature
    }

    func signJSPatch(_ digest: JSPatchDigest, of fingerprint: Fingerprint) throws(SigningError) -> [UInt8] {
        do throws(KeyError) { try publicKey.kind.checkRSA() } catch { throw .key(file, error) }
        let signature = try output(
            over: JSPatchSignature.message(digest, of: fingerprint),
            scheme: JSPatchSignature.scheme,
            keyID: JSPatchSignature.keyID(of: publicKey),
            purpose: JSPatchSignature.usage
        )
        do throws(JSPatchError) {
            try JSPatchPublicKey(publicKey).check(signature, digest: digest, of: fingerprint)
        } catch { throw .signer(file, .doesNotVerify(bytes: signature.count)) }
        return signature
    }

    private func output(
        over message: [UInt8],
        scheme: String,
        keyID: SHA256Digest,
        purpose: String
    ) throws(SigningError) -> [UInt8] {
        var environment = ProcessInfo.processInfo.environment
        for name in hidden { environment[name] = nil }
        environment["PATCHLINE_SCHEME"] = scheme
        environment["PATCHLINE_KEYID"] = keyID.hex
        environment["PATCHLINE_PURPOSE"] = purpose
        let outcome: ChildProcess.Outcome
        do throws(ChildProcessError) {
            outcome = try ChildProcess.run(
                command,
                environment: environment.map { "\($0)=\($1)" },
                input: message,
                timeout: timeout,
                limit: Limits.signature
            )
        } catch { throw .signer(file, .command(error)) }
        guard outcome.status == 0 else { throw .signer(file, .command(.exited(status: outcome.status))) }
        return outcome.output
    }
}
