import PatchFormat
import ArgumentParser
import CommandKit
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// The secrets that open private keys: passphrases of files, PINs of tokens.
struct KeyOpening: ParsableArguments {
    @Option(
        name: .customLong("passphrase-file"),
        help: ArgumentHelp("A file whose first line opens the keys, or -. Repeatable.", valueName: "file")
    )
    var passphraseFiles: [String] = []

    @Option(help: ArgumentHelp("An environment variable whose value opens the keys.", valueName: "name"))
    var passphraseEnv: String?

    @Option(help: ArgumentHelp("A file whose first line is the PIN of a PKCS#11 token, or -.", valueName: "file"))
    var pinFile: String?

    @Option(help: ArgumentHelp("An environment variable whose value is the PIN of a token.", valueName: "name"))
    var pinEnv: String?

    @Option(
        name: .customLong("pkcs11-module"),
        help: ArgumentHelp(
            "The token's PKCS#11 module, if the URI names none. Default: the value of PKCS11_MODULE_PATH.",
            valueName: "file"
        )
    )
    var pkcs11Module: String?

    func validate() throws {
        guard pinFile == nil || pinEnv == nil else { throw ValidationError("give one of --pin-file and --pin-env") }
    }

    /// The PKCS#11 module for tokens whose URI names none.
    var module: String? {
        pkcs11Module.map { FilePath(argument: $0).string } ?? ProcessEnvironment.environment("PKCS11_MODULE_PATH")
    }

    /// Opens a private key with the given secrets, or asks for one.
    func open(_ reference: KeyReference) throws(Failure) -> SigningKey {
        switch reference {
        case .file(let file): try open(file: file)
        case .signer(let file):
            try signing { () throws(SigningError) in
                try SigningKey(
                    signer: file,
                    hiding: [passphraseEnv, pinEnv].compactMap(\.self),
                    policy: .ofThisProcess,
                    files: DiskFiles()
                )
            }
        case .token(let uri): try open(token: uri)
        }
    }

    /// Opens a key for packages of JSPatch's loader, also a pair that is too small for other uses.
    func openJSPatch(_ reference: KeyReference) throws(Failure) -> JSPatchSigner {
        switch reference {
        case .file(let file): return try open(file: file)
        case .signer, .token:
            let key: SigningKey = try open(reference)
            return try signing { () throws(SigningError) in try JSPatchSigner(key) }
        }
    }

    private func open<Key: OpenedKey>(file: FilePath) throws(Failure) -> Key {
        let key: Key
        do throws(SigningError) {
            key = try Key(file, passphrase: nil, policy: .ofThisProcess, files: DiskFiles())
        } catch .key(_, .needsPassphrase) {
            return try open(encrypted: file)
        } catch { throw Failure(error) }
        try SecretAccess.check(unencryptedKey: file.string)
        return key
    }

    /// Opens a key with the given passphrases.
    ///
    /// Without any, tries those typed before and then asks up to three times.
    private func open<Key: OpenedKey>(encrypted file: FilePath) throws(Failure) -> Key {
        let given = try passphrases()
        for passphrase in given.isEmpty ? PassphraseQuestion.known : given {
            if let key: Key = try open(file, with: passphrase) { return key }
        }
        guard given.isEmpty else { throw Failure(SigningError.key(file, .wrongPassphrase)) }
        var question = PassphraseQuestion(Self.question(for: file))
        while let typed = try Self.next(&question, for: file) {
            guard let key: Key = try open(file, with: typed) else { continue }
            PassphraseQuestion.remember(typed)
            return key
        }
        throw Failure(SigningError.key(file, .wrongPassphrase))
    }

    /// Returns nil if the passphrase is wrong.
    private func open<Key: OpenedKey>(_ file: FilePath, with passphrase: Passphrase) throws(Failure) -> Key? {
        let text = try passphrase.text()
        do throws(SigningError) {
            return try Key(file, passphrase: text, policy: .ofThisProcess, files: DiskFiles())
        } catch .key(_, .wrongPassphrase) {
            return nil
        } catch { throw Failure(error) }
    }

    /// Tries a PIN only once, because tokens lock themselves after a few wrong ones.
    private func open(token uri: TokenURI) throws(Failure) -> SigningKey {
        let pin = try pin(for: uri)?.text()
        return try signing { () throws(SigningError) in
            try SigningKey(token: uri, module: module, pin: pin, policy: .ofThisProcess)
        }
    }

    private func pin(for uri: TokenURI) throws(Failure) -> Passphrase? {
        guard uri.modulePath ?? module != nil else { return nil }
        do throws(PassphraseError) {
            if let pinFile { return try Passphrase.read(file: pinFile) }
            if let pinEnv { return try Passphrase.environment(pinEnv) }
            return try Passphrase.prompt(Self.question(for: uri))
        } catch .noTerminal {
            return nil
        } catch { throw Failure(error) }
    }

    func passphrases() throws(Failure) -> [Passphrase] {
        var found: [Passphrase] = []
        do throws(PassphraseError) {
            for path in passphraseFiles { found.append(try Passphrase.read(file: path)) }
            if let name = passphraseEnv { found.append(try Passphrase.environment(name)) }
        } catch { throw Failure(error) }
        return found
    }

    private static func next(
        _ question: inout PassphraseQuestion,
        for file: FilePath
    ) throws(Failure) -> Passphrase? {
        do throws(PassphraseError) {
            return try question.next()
        } catch .noTerminal {
            throw Failure(SigningError.key(file, .needsPassphrase))
        } catch .empty {
            // A user without the passphrase presses Enter; a ceremony then continues with the other keys.
            throw noneTyped(for: file)
        } catch { throw Failure(error) }
    }

    static func question(for uri: TokenURI) -> String { "PIN for \(uri):" }
    static func question(for file: FilePath) -> String { "Passphrase for \(file.name ?? file.string):" }

    static func noneTyped(for file: FilePath) -> Failure {
        Failure("no passphrase was typed for \(file.name ?? file.string)", code: .refused)
    }
}

/// A type of key that a file can be opened as.
private protocol OpenedKey {
    init(
        _ file: FilePath,
        passphrase: String?,
        policy: KeyPolicy,
        files: any FileOperations
    ) throws(SigningError)
}

extension SigningKey: OpenedKey {}
extension JSPatchSigner: OpenedKey {}

extension KeyReference {
    /// Parses an argument: a PKCS#8 file, `NAME.signer`, or a `pkcs11:` URI.
    init(argument: String) throws(Failure) {
        self = try signing { () throws(SigningError) in try KeyReference(argument) { FilePath(argument: $0) } }
    }

    /// Parses an argument; if no such file exists, uses the key of that name in the folder of `--keys`: `bob`, `bob.key`.
    init(argument: String, in folder: FilePath) throws(Failure) {
        guard !argument.hasPrefix(TokenURI.scheme) else {
            try self.init(argument: argument)
            return
        }
        self.init(try KeyFile.path(argument, in: folder, endings: KeyFile.privateKeys))
    }

    /// - Parameter keys: The value of `--keys`, which is optional for some commands.
    init(argument: String, inFolder keys: String?) throws(Failure) {
        if let keys {
            try self.init(argument: argument, in: FilePath(argument: keys))
        } else {
            try self.init(argument: argument)
        }
    }
}

/// Finds the file of a key that the command line names, also in the folder of `--keys`.
enum KeyFile {
    static let privateKeys = ["", ".key", ".\(KeyReference.signerExtension)"]

    /// The path of a file relative to the working directory, or else in the folder of `--keys`.
    ///
    /// - Parameter endings: The extensions that a name in the folder may omit.
    /// - Throws: the searched paths, if neither contains the file.
    static func path(_ argument: String, in folder: FilePath, endings: [String] = [""]) throws(Failure) -> FilePath {
        let named = FilePath(argument: argument)
        if try exists(named) { return named }
        guard !argument.hasPrefix("/") else { throw Failure(SigningError.file(.notFound(.read, named))) }
        let places = endings.map { folder.pushing(FilePath(argument + $0)).lexicallyNormalized() }
        for place in places where try exists(place) { return place }
        throw Failure(
            "cannot read \(named): it does not exist, nor does \(places[0])",
            hint: "`patchsign key list --keys \(shellWord(folder.string))` lists the keys of that folder",
            code: .disk
        )
    }

    private static func exists(_ path: FilePath) throws(Failure) -> Bool {
        do throws(FileError) { return try DiskFiles().status(of: path) != nil } catch .notDirectory {
            return false
        } catch { throw Failure(SigningError.file(error)) }
    }
}

extension Passphrase {
    /// The passphrase in the form that libcrypto needs.
    ///
    /// - Throws: an error for bytes that this program and openssl would interpret differently.
    func text() throws(Failure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw Failure("the passphrase is not UTF-8 text", code: .malformed)
        }
        return text
    }
}
