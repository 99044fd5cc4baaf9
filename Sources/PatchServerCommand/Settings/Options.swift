import CommandSupport
import ArgumentParser
import PatchFormat
import PatchServer
import PatchStore
import PatchTrust
import SystemPackage
import Terminal

/// Where the server keeps everything.
struct FolderOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server's folder.", valueName: "dir"))
    var data: String

    var folder: ServerFolder { ServerFolder(FilePath(argument: data)) }
}

/// How the online key is opened.
struct KeyOptions: ParsableArguments {
    static let variable = "PATCHSRV_PASSPHRASE"

    @Option(
        help: ArgumentHelp("A file whose first line is the online key's passphrase.", valueName: "file")
    )
    var passphraseFile: String?

    @Option(
        help: ArgumentHelp(
            "An environment variable that holds it (default: \(KeyOptions.variable) where it is set, else a prompt).",
            valueName: "name"
        )
    )
    var passphraseEnv: String?

    func validate() throws {
        if passphraseFile != nil, passphraseEnv != nil {
            throw ValidationError("--passphrase-file and --passphrase-env are given; one of them is enough")
        }
    }

    /// Reads the key; asks for a passphrase only if it is encrypted, and warns if it is not.
    func key(at path: FilePath) throws -> OnlineKey {
        let file = try DiskFiles().read(path, limit: Limits.keyFile)
        guard OnlineKey.isEncrypted(file) else {
            let key = try OnlineKey(file, passphrase: nil, from: path)
            Console.standardError.line(
                "warning: the online key \(printable(path.string)) is not encrypted: whoever reads the disk has it"
            )
            return key
        }
        return try Self.open(file, with: try passphrase(for: path), at: path)
    }

    /// Whether a file or the environment has the passphrase.
    var isNamed: Bool {
        passphraseFile != nil || passphraseEnv != nil || Surroundings.environment(Self.variable) != nil
    }

    /// Opens the key each time it is asked; nil for an encrypted one whose passphrase nobody named.
    ///
    /// - Parameter paths: keys whose passphrases are asked for once, now.
    func reader(askingFor paths: [FilePath]) throws -> @Sendable (FilePath) throws -> OnlineKey? {
        let open = try opener(askingFor: paths)
        return { path in
            let file: [UInt8]
            do { file = try DiskFiles().read(path, limit: Limits.keyFile) } catch { throw OpeningTrouble(error) }
            return try open(file, path)
        }
    }

    /// The same for the bytes of a key, and where they came from.
    func opener(
        askingFor paths: [FilePath]
    ) throws -> @Sendable (_ file: [UInt8], _ path: FilePath) throws -> OnlineKey? {
        var typed: [FilePath: Passphrase] = [:]
        for path in paths {
            let passphrase = try passphrase(for: path)
            _ = try Self.open(try DiskFiles().read(path, limit: Limits.keyFile), with: passphrase, at: path)
            typed[path] = passphrase
        }
        let known = typed
        return { file, path in
            do {
                guard OnlineKey.isEncrypted(file) else { return try OnlineKey(file, passphrase: nil, from: path) }
                guard let passphrase = try isNamed ? passphrase(for: path) : known[path] else { return nil }
                return try Self.open(file, with: passphrase, at: path)
            } catch { throw OpeningTrouble(error) }
        }
    }

    private static func open(_ file: [UInt8], with passphrase: Passphrase, at path: FilePath) throws -> OnlineKey {
        guard let text = String(validating: passphrase.bytes, as: UTF8.self) else {
            throw Failure("the passphrase is not UTF-8", exitCode: .malformed)
        }
        return try OnlineKey(file, passphrase: text, from: path)
    }

    private func passphrase(for path: FilePath) throws(PassphraseError) -> Passphrase {
        if let passphraseFile { return try Passphrase.read(file: passphraseFile) }
        if let passphraseEnv { return try Passphrase.environment(passphraseEnv) }
        if Surroundings.environment(Self.variable) != nil {
            return try Passphrase.environment(Self.variable)
        }
        return try Passphrase.prompt("Passphrase for the online key \(path):", confirm: false)
    }
}

extension AppRepository {
    init(_ app: AppID, in folder: ServerFolder) throws(ServerError) {
        try self.init(app, in: folder, files: DiskFiles(), allowsTestingKeys: Surroundings.allowsTestingKeys)
    }
}

/// Why a key or a certificate cannot be opened: one sentence, and for the start of a program all that is to be said.
struct OpeningTrouble: Error, CustomStringConvertible {
    let failure: Failure
    var description: String { failure.message }

    init(_ error: any Error) {
        failure = Failure(of: error) ?? Failure("\(error)")
    }
}
