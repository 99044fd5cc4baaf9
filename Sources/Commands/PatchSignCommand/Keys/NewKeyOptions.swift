import PatchFormat
import ArgumentParser
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import CommandKit

/// The kind and protection of a new key, for commands that open existing keys with other passphrases.
struct NewKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file whose first line encrypts the new key, or -. Default: the passphrase of the old key, if it is given.",
            valueName: "file"
        )
    )
    var newPassphraseFile: String?

    @Option(help: ArgumentHelp("An environment variable whose value encrypts the new key.", valueName: "name"))
    var newPassphraseEnv: String?

    @Flag(help: "Write the new private key unencrypted. Anyone who can read the file can sign with it.")
    var unencryptedKeys = false

    @Option(help: ArgumentHelp("The size of an RSA key.", valueName: "bits"))
    var bits = 3_072

    func validate() throws {
        let given = [newPassphraseFile, newPassphraseEnv].compactMap(\.self).count + (unencryptedKeys ? 1 : 0)
        if given > 1 {
            throw ValidationError("give one of --new-passphrase-file, --new-passphrase-env and --unencrypted-keys")
        }
        if !(2_048...8_192).contains(bits) { throw ValidationError("--bits must be 2048 to 8192") }
    }

    /// The protection of the new key.
    ///
    /// Asks on the terminal if no passphrase is given.
    ///
    /// - Parameter name: The name of the replaced key.
    func protection(_ keys: KeyOptions, replacing name: String) throws(Failure) -> RootOfTrustMaker.Protection {
        guard !unencryptedKeys else { return .none }
        if newPassphraseFile == nil, newPassphraseEnv == nil {
            var given: [String] = []
            for passphrase in try keys.opening.passphrases() { given.append(try passphrase.text()) }
            if !given.isEmpty {
                return try signing { () throws(SigningError) in
                    let folder = KeyFolder(keys.folder, files: DiskFiles())
                    return .passphrase(try folder.passphrase(replacing: name, among: given))
                }
            }
        }
        let secret: Passphrase
        do throws(PassphraseError) {
            secret = try passphrase()
        } catch .noTerminal {
            throw Failure(
                "there is no terminal to ask for the new key's passphrase",
                hint: "give it with --new-passphrase-file or --new-passphrase-env, or ask for --unencrypted-keys",
                code: .usage
            )
        } catch { throw Failure(error) }
        let text = try secret.text()
        // The new key is used to sign in the same run.
        PassphraseQuestion.remember(secret)
        return .passphrase(text)
    }

    static let question = "Passphrase for the new key, at least \(Passphrase.minimum) characters:"

    private func passphrase() throws(PassphraseError) -> Passphrase {
        if let newPassphraseFile { return try .forNewKey(file: newPassphraseFile) }
        if let newPassphraseEnv { return try .forNewKey(variable: newPassphraseEnv) }
        return try Passphrase.promptForNew(Self.question)
    }
}

extension Passphrase {
    static func forNewKey(file: String) throws(PassphraseError) -> Passphrase {
        try read(file: file).forNewKey(from: .file(file))
    }

    static func forNewKey(variable: String) throws(PassphraseError) -> Passphrase {
        try environment(variable).forNewKey(from: .environment(variable))
    }
}
