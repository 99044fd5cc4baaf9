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
        let passphrase = try passphrase(for: path)
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
