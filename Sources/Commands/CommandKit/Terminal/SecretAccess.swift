import Synchronization
package import PatchFormat
import Glibc

/// The access of other users to a file that holds a secret of this user.
package enum SecretAccess: Equatable, Sendable {
    /// Only the owner may read the file, or it belongs to another user, whose decision it is.
    case closed
    /// The group or others may read the file, and this user can change that.
    case open(mode: UInt32)
    /// The group or others may read the file, on a read-only file system, as containers receive their secrets. This user cannot
    /// change it.
    case openAndFixed(mode: UInt32)

    /// - Parameters:
    ///   - mode: The mode of a regular file, including its kind.
    ///   - user: The effective user.
    ///   - others: The permissions that other users must not have.
    package init(mode: UInt32, owner: UInt32, user: UInt32, isReadOnly: Bool, refusing others: UInt32 = 0o077) {
        let permissions = mode & 0o777
        guard mode & S_IFMT == S_IFREG, owner == user, permissions & others != 0 else {
            self = .closed
            return
        }
        self = isReadOnly ? .openAndFixed(mode: permissions) : .open(mode: permissions)
    }

    init(of descriptor: Int32, refusing others: UInt32 = 0o077) {
        var (facts, system) = (stat(), statvfs())
        guard unsafe fstat(descriptor, &facts) == 0 else {
            self = .closed
            return
        }
        // ST_RDONLY, which is 1 in statvfs(3).
        let isReadOnly = unsafe fstatvfs(descriptor, &system) == 0 && system.f_flag & 1 != 0
        self.init(
            mode: facts.st_mode,
            owner: facts.st_uid,
            user: geteuid(),
            isReadOnly: isReadOnly,
            refusing: others
        )
    }

    /// The access to a file that is read elsewhere.
    ///
    /// Links are followed.
    private init(at path: String, refusing others: UInt32 = 0o077) {
        guard let descriptor = try? openFile(path, O_RDONLY | O_NONBLOCK) else {
            self = .closed
            return
        }
        defer { close(descriptor) }
        self.init(of: descriptor, refusing: others)
    }
}

extension SecretAccess {
    private static let warned = Mutex<Set<String>>([])

    /// Warns, once for each file, about a secret that others may read.
    func warn(of path: String) {
        guard case .open(let mode) = self, Self.warned.withLock({ $0.insert(path).inserted }) else { return }
        for line in Self.warning(of: path, mode: mode) { Console.standardError.line(line) }
    }

    /// Warns about a file that is read elsewhere.
    ///
    /// - Parameter others: For TLS keys 0o007, because systems keep those for a group of services.
    package static func warn(of path: String, refusing others: UInt32 = 0o077) {
        SecretAccess(at: path, refusing: others).warn(of: path)
    }

    package static func warning(of path: String, mode: UInt32) -> [String] {
        [
            "warning: other users may read the secret in \(printable(path)) (mode \(octal(mode)))",
            "hint: chmod 600 \(printable(path))",
        ]
    }

    /// Refuses a private key without a passphrase that others may read, as ssh does.
    ///
    /// On a read-only mount, it warns.
    package static func check(unencryptedKey path: String) throws(Failure) {
        switch SecretAccess(at: path) {
        case .closed: return
        case .open(let mode): throw refusal(of: path, mode: mode)
        case .openAndFixed(let mode): SecretAccess.open(mode: mode).warn(of: path)
        }
    }

    package static func refusal(of path: String, mode: UInt32) -> Failure {
        Failure(
            "\(path) is a private key without a passphrase, and other users may read it (mode \(octal(mode)))",
            hint: "chmod 600 \(path)\nif others use this machine, replace the key: they may have read it.",
            code: .refused
        )
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
