import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

extension KeyOptions {
    var trustFolder: TrustFolder { TrustFolder(folder, policy: .ofThisProcess, files: DiskFiles()) }
}

/// The folder option of a command that opens no key.
struct FolderOption: ParsableArguments {
    @Option(help: ArgumentHelp("The folder with root.json and targets.json.", valueName: "dir"))
    var keys: String

    var trustFolder: TrustFolder {
        TrustFolder(FilePath(argument: keys), policy: .ofThisProcess, files: DiskFiles())
    }
}

/// Parses arguments that name a role, a key or a count.
enum TrustArgument {
    static func role(_ text: String, in roles: Authorities) throws(Failure) -> TrustRole {
        guard let role = TrustRole(text) else {
            throw failure(.unknownRole(text, known: roles.roles.map(\.description)))
        }
        return role
    }

    /// The file of a public key.
    static func key(_ path: String) throws(Failure) -> PublicKey {
        let file = FilePath(argument: path)
        return try wantingPublicKey { () throws(SigningError) in
            try KeyFolder(file.parent, files: DiskFiles()).publicKey(at: file)
        }
    }

    /// A public key that remains listed, and its file, which may also be in the folder of `--keys`.
    static func keptKey(_ text: String, in folder: FilePath) throws(Failure) -> (file: FilePath, key: PublicKey) {
        let file = try KeyFile.path(text, in: folder, endings: ["", ".pub"])
        return (
            file,
            try wantingPublicKey { () throws(SigningError) in
                try KeyFolder(file.parent, files: DiskFiles()).publicKey(at: file)
            }
        )
    }

    /// The public key in a file, or the one of that name in a folder.
    static func key(_ text: String, in folder: FilePath) throws(Failure) -> PublicKey {
        try wantingPublicKey { () throws(SigningError) in
            try KeyFolder(folder, files: DiskFiles()).publicKey(text, at: FilePath(argument: text))
        }
    }

    /// Parses the same, or the beginning of a key id: eight or more hex digits.
    static func selector(_ text: String, in folder: FilePath) throws(Failure) -> KeySelector {
        try wantingPublicKey { () throws(SigningError) in
            try KeyFolder(folder, files: DiskFiles()).selector(text, at: FilePath(argument: text))
        }
    }

    private static func wantingPublicKey<Value>(_ read: () throws(SigningError) -> Value) throws(Failure) -> Value {
        do throws(SigningError) { return try read() } catch .key(let path, .unreadable) {
            throw Failure(
                "\(path) is not a public key in PEM",
                hint: "name a public key, -----BEGIN PUBLIC KEY-----; `patchsign key public` prints a private "
                    + "key's",
                code: .malformed
            )
        } catch { throw Failure(error) }
    }

    static func count(_ text: String, of role: String) throws(Failure) -> Int {
        guard let count = Int(text) else {
            throw Failure("--threshold \(role)=\(text) is not a number", code: .usage)
        }
        return count
    }

    private static func failure(_ error: CeremonyError) -> Failure {
        Failure(error.description, hint: error.hint, code: error.code)
    }
}

/// The validity of new documents.
extension Optional<Validity> {
    var forTrust: Duration { self?.duration ?? TrustDraft.validity }
}
