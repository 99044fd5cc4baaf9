import PatchFormat
import ArgumentParser
import PatchRelease
import CommandKit

/// The protection of new private keys.
struct ProtectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file whose first line encrypts the keys, at least \(Passphrase.minimum) characters, or -.",
            valueName: "file"
        )
    )
    var passphraseFile: String?

    @Option(help: ArgumentHelp("An environment variable whose value encrypts the keys.", valueName: "name"))
    var passphraseEnv: String?

    @Option(
        help: ArgumentHelp(
            "A file whose first line encrypts online.key, the server's key, or -. Default: as for the other keys.",
            valueName: "file"
        )
    )
    var onlinePassphraseFile: String?

    @Flag(help: "Write private keys unencrypted. Anyone who can read the files can sign with them.")
    var unencryptedKeys = false

    func validate() throws {
        let sources = [passphraseFile, passphraseEnv].compactMap(\.self)
        if sources.count > 1 { throw ValidationError("give one of --passphrase-file and --passphrase-env") }
        if unencryptedKeys, !sources.isEmpty || onlinePassphraseFile != nil {
            throw ValidationError("--unencrypted-keys needs no passphrase")
        }
    }

    /// The protection by key name.
    ///
    /// Asks on the terminal if no passphrase is given.
    func resolve() throws(Failure) -> (String) -> RootOfTrustMaker.Protection {
        guard !unencryptedKeys else { return { _ in .none } }
        let (common, online) = try read()
        let text = try common.text()
        let onlineText = try online?.text() ?? text
        return { name in .passphrase(name == RootOfTrustPlan.online ? onlineText : text) }
    }

    private func read() throws(Failure) -> (common: Passphrase, online: Passphrase?) {
        do throws(PassphraseError) {
            // The file is read first: if that fails, the user need not type a passphrase.
            let online = try onlinePassphraseFile.map { (path) throws(PassphraseError) in
                try Passphrase.forNewKey(file: path)
            }
            return (try common(), online)
        } catch .noTerminal {
            throw Failure(
                "there is no terminal to ask for the new keys' passphrase",
                hint: "give it with --passphrase-file or --passphrase-env, or ask for --unencrypted-keys",
                code: .usage
            )
        } catch { throw Failure(error) }
    }

    static let question = "Passphrase for the new keys, at least \(Passphrase.minimum) characters:"

    private func common() throws(PassphraseError) -> Passphrase {
        if let passphraseFile { return try .forNewKey(file: passphraseFile) }
        if let passphraseEnv { return try .forNewKey(variable: passphraseEnv) }
        return try Passphrase.promptForNew(Self.question)
    }
}
