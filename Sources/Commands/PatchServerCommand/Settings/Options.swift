import CommandKit
import ArgumentParser
import PatchChoice
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// The option for the server's folder.
struct FolderOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server's folder (or PATCHSRV_DATA).", valueName: "dir"))
    var data: String

    @OptionGroup var settings: SettingsFileOption

    var folder: ServerFolder { ServerFolder(FilePath(argument: data), build: Build.time) }
}

/// The option for the file with settings that neither the command line nor the environment has.
///
/// The file is read before the command line is parsed: see ``CommandSettings``.
struct SettingsFileOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "YAML file with settings (or PATCHSRV_CONFIG). Command line and environment precede it.",
            valueName: "file"
        )
    )
    var config: String?
}

/// The options for the passphrase of the online key.
struct KeyOptions: ParsableArguments {
    static let variable = "PATCHSRV_PASSPHRASE"
    /// The meaning of `usage` for a command that signs.
    static let noTerminal =
        "the command line was not understood, or names no passphrase for an encrypted key and there is no terminal to ask"

    @Option(
        help: ArgumentHelp("File whose first line is the online key's passphrase, or -.", valueName: "file")
    )
    var passphraseFile: String?

    @Option(
        help: ArgumentHelp(
            "Environment variable with the passphrase (default: \(KeyOptions.variable) if set, else a prompt).",
            valueName: "name"
        )
    )
    var passphraseEnv: String?

    func validate() throws {
        if passphraseFile != nil, passphraseEnv != nil {
            throw ValidationError("--passphrase-file and --passphrase-env are given; one of them is enough")
        }
    }

    /// Reads the key.
    ///
    /// Asks for a passphrase only if it is encrypted, and warns if it is not.
    ///
    /// - Parameter isStored: Whether it is the server's own copy. A copy that others may read is accepted, so that a running server
    ///   continues to sign. `doctor` reports it as a fault.
    func key(at path: FilePath, isStored: Bool = true) throws -> OnlineKey {
        let file = try DiskFiles().read(path, limit: Limits.keyFile)
        guard OnlineKey.isEncrypted(file) else {
            if !isStored { try SecretAccess.check(unencryptedKey: path.string) }
            SecretAccess.warn(of: path.string)
            let key = try OnlineKey(file, passphrase: nil, from: path)
            Console.standardError.line(
                "warning: the online key \(printable(path.string)) is not encrypted: anyone who can read the disk has it"
            )
            return key
        }
        return try open(encrypted: file, at: path).key
    }

    /// Whether a file or the environment has the passphrase.
    var isNamed: Bool {
        passphraseFile != nil || passphraseEnv != nil || ProcessEnvironment.environment(Self.variable) != nil
    }

    /// Opens the bytes of a key from a path, each time it is called.
    ///
    /// Nil for an encrypted key without a passphrase.
    ///
    /// A passphrase in a file or in the environment is read each time.
    func opener(_ typed: TypedPassphrases = TypedPassphrases()) -> KeyOpener {
        { file, path in
            do {
                guard OnlineKey.isEncrypted(file) else { return try OnlineKey(file, passphrase: nil, from: path) }
                if let named = try named() { return try Self.open(file, with: named, at: path) }
                return try typed.passphrase(opening: file, at: path).map { try Self.open(file, with: $0, at: path) }
            } catch { throw OpenFailure(error) }
        }
    }

    static func open(_ file: [UInt8], with passphrase: Passphrase, at path: FilePath) throws -> OnlineKey {
        guard let text = String(validating: passphrase.bytes, as: UTF8.self) else {
            throw Failure("the passphrase is not UTF-8", code: .malformed)
        }
        return try OnlineKey(file, passphrase: text, from: path)
    }

    static func question(for path: FilePath) -> String { "Passphrase for the online key \(path):" }

    /// Opens a key with the named passphrase, or with typed ones.
    ///
    /// One that opens several keys is asked once, a wrong one again.
    private func open(encrypted file: [UInt8], at path: FilePath) throws -> (key: OnlineKey, passphrase: Passphrase) {
        if let named = try named() { return (try Self.open(file, with: named, at: path), named) }
        for known in PassphraseQuestion.known {
            if let key = try? Self.open(file, with: known, at: path) { return (key, known) }
        }
        var question = PassphraseQuestion(Self.question(for: path))
        while let typed = try answer(to: &question, for: path) {
            do {
                let key = try Self.open(file, with: typed, at: path)
                PassphraseQuestion.remember(typed)
                return (key, typed)
            } catch ServerError.key(_, .wrongPassphrase) {}
        }
        throw ServerError.key(path, .wrongPassphrase)
    }

    private func answer(to question: inout PassphraseQuestion, for path: FilePath) throws -> Passphrase? {
        do throws(PassphraseError) { return try question.next() } catch .noTerminal {
            throw Self.noTerminal(for: path, beside: Self.passphraseFile(near: path))
        }
    }

    /// - Parameter file: A passphrase file near the key, if there is one.
    static func noTerminal(for path: FilePath, beside file: FilePath?) -> Failure {
        Failure(
            "there is no terminal to ask for the passphrase of the online key \(path)",
            hint: file.map { "name it: --passphrase-file \(shellWord($0.string))" }
                ?? "name it with --passphrase-file or in \(variable), in cron too",
            code: .usage
        )
    }

    /// The file `online.pass` in the key's folder or one of three above it.
    ///
    /// A quick start stores it beside the server's folder.
    private static func passphraseFile(near key: FilePath) -> FilePath? {
        candidates(for: key).first { (try? DiskFiles().status(of: $0))??.kind == .file }
    }

    static func candidates(for key: FilePath) -> [FilePath] {
        var (folder, found) = (key, [FilePath]())
        for _ in 1...5 {
            let above = folder.removingLastComponent()
            guard above != folder, !above.isEmpty else { break }
            folder = above
            found.append(folder.appending("online.pass"))
        }
        return found
    }

    /// The passphrase from a file or the environment, or nil if the user must be asked.
    private func named() throws(PassphraseError) -> Passphrase? {
        if let passphraseFile { return try Passphrase.read(file: passphraseFile) }
        if let passphraseEnv { return try Passphrase.environment(passphraseEnv) }
        return ProcessEnvironment.environment(Self.variable) == nil ? nil : try Passphrase.environment(Self.variable)
    }
}

extension AppRepository {
    init(_ app: AppID, in folder: ServerFolder) throws(ServerError) {
        try self.init(app, in: folder, files: DiskFiles(), allowsTestingKeys: ProcessEnvironment.allowsTestingKeys)
    }
}

/// The reason why a key or certificate cannot be opened, in one sentence.
///
/// At the start of a program, the whole message.
struct OpenFailure: Error, CustomStringConvertible {
    let failure: Failure
    var description: String { failure.message }

    init(_ error: any Error) {
        failure = Failure(of: error) ?? Failure("\(error)")
    }
}
