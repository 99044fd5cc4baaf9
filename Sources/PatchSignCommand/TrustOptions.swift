import ArgumentParser
import CommandSupport
import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import SystemPackage
import Terminal

extension KeyOptions {
    var trustFolder: TrustFolder { TrustFolder(folder, policy: .ofThisProcess, files: DiskFiles()) }
}

/// The folder of a command that opens no key.
struct FolderOption: ParsableArguments {
    @Option(help: ArgumentHelp("The folder with root.json and targets.json.", valueName: "dir"))
    var keys: String

    var trustFolder: TrustFolder {
        TrustFolder(FilePath(argument: keys), policy: .ofThisProcess, files: DiskFiles())
    }
}

/// Words on a command line that mean a role, a key or a count.
enum TrustArgument {
    static func role(_ text: String, in roles: Authorities) throws(Failure) -> TrustRole {
        guard let role = TrustRole(text) else {
            throw failure(.unknownRole(text, known: roles.roles.map(\.description)))
        }
        return role
    }

    static func key(_ path: String) throws(Failure) -> PublicKey {
        let file = FilePath(argument: path)
        return try signing { () throws(SigningError) in
            try KeyFolder(file.removingLastComponent(), files: DiskFiles()).publicKey(at: file)
        }
    }

    /// Eight or more hex digits are the beginning of a key id; all else is the file of a public key.
    static func selector(_ text: String) throws(Failure) -> KeySelector {
        isKeyID(text) ? .id(text) : .key(try key(text))
    }

    static func isKeyID(_ text: String) -> Bool {
        (8...64).contains(text.utf8.count) && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    static func count(_ text: String, of role: String) throws(Failure) -> Int {
        guard let count = Int(text) else {
            throw Failure("--threshold \(role)=\(text) is no number", exitCode: .usage)
        }
        return count
    }

    private static func failure(_ error: CeremonyError) -> Failure {
        Failure(error.description, hint: error.hint, exitCode: error.exitCode)
    }
}

/// How long what is made holds.
extension Optional<Validity> {
    var forTrust: Duration { self?.duration ?? TrustDraft.validity }
}
