import ArgumentParser
import CommandSupport
import PatchRelease
import PatchStore
import PatchTrust
import SystemPackage
import Terminal

/// Where an app's root of trust lies, and what opens its keys.
struct KeyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The folder with root.json, targets.json and keys.", valueName: "dir"))
    var keys: String

    @Option(
        name: .customLong("passphrase-file"),
        help: ArgumentHelp("A file whose first line opens the keys; may stand several times.", valueName: "file")
    )
    var passphraseFiles: [String] = []

    @Option(help: ArgumentHelp("An environment variable whose value opens the keys.", valueName: "name"))
    var passphraseEnv: String?

    var folder: FilePath { FilePath(argument: keys) }

    func rootOfTrust() throws(Failure) -> RootOfTrust {
        let folder = folder
        return try signing { () throws(SigningError) in
            try RootOfTrust(folder: folder, policy: .ofThisProcess, files: DiskFiles())
        }
    }

    /// Opens a private key with the passphrases given, or asks for one.
    func open(_ file: FilePath) throws(Failure) -> SigningKey {
        do throws(SigningError) {
            return try SigningKey(file, passphrase: nil, policy: .ofThisProcess, files: DiskFiles())
        } catch .key(_, .needsPassphrase) {
            return try open(encrypted: file)
        } catch { throw Failure(error) }
    }

    private func open(encrypted file: FilePath) throws(Failure) -> SigningKey {
        let given = try passphrases()
        for passphrase in given.isEmpty ? [try Self.ask(for: file)] : given {
            let text = try passphrase.text()
            do throws(SigningError) {
                return try SigningKey(file, passphrase: text, policy: .ofThisProcess, files: DiskFiles())
            } catch .key(_, .wrongPassphrase) {
                continue
            } catch { throw Failure(error) }
        }
        throw Failure(SigningError.key(file, .wrongPassphrase))
    }

    private func passphrases() throws(Failure) -> [Passphrase] {
        var found: [Passphrase] = []
        do throws(PassphraseError) {
            for path in passphraseFiles { found.append(try Passphrase.read(file: path)) }
            if let name = passphraseEnv { found.append(try Passphrase.environment(name)) }
        } catch { throw Failure(error) }
        return found
    }

    private static func ask(for file: FilePath) throws(Failure) -> Passphrase {
        do throws(PassphraseError) {
            return try Passphrase.prompt("Passphrase for \(file.lastComponent?.string ?? file.string):", confirm: false)
        } catch .noTerminal {
            throw Failure(SigningError.key(file, .needsPassphrase))
        } catch { throw Failure(error) }
    }
}

extension Passphrase {
    /// As libcrypto's adapter takes it.
    ///
    /// - Throws: for bytes that this program and openssl would not read as the same passphrase.
    func text() throws(Failure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw Failure("the passphrase is not UTF-8 text", exitCode: .malformed)
        }
        return text
    }
}
