import Synchronization
package import PatchFormat
import Glibc
import PatchStore
package import SystemPackage

/// The user that a command acts as: started by root on the folder of a service, it acts as the folder's owner.
///
/// Otherwise root would create files that the service cannot read, and the folder's owner could redirect root out of the folder.
package enum ActingOwner: Equatable, Sendable {
    /// A user and a group, by their numeric ids.
    package struct User: Equatable, Sendable {
        package let id: UInt32
        package let group: UInt32

        package init(id: UInt32, group: UInt32) { (self.id, self.group) = (id, group) }
    }

    /// The command keeps its user.
    case unchanged
    case owner(User, of: FilePath)
    /// The folders have several owners, but a process can act as only one.
    case several([FilePath])

    /// - Parameters:
    ///   - user: The id of the user that started the command.
    ///   - folders: The folders that the command works on, each with its owner.
    package init(startedBy user: UInt32, on folders: [(path: FilePath, owner: User)]) {
        guard user == 0, let first = folders.first(where: { $0.owner.id != 0 }) else {
            self = .unchanged
            return
        }
        let others = folders.filter { $0.owner.id != first.owner.id }
        self = others.isEmpty ? .owner(first.owner, of: first.path) : .several([first.path] + others.map(\.path))
    }
}

extension ActingOwner {
    private static let taken = Mutex<(name: String, folder: FilePath)?>(nil)

    /// Acts as the owner of these folders from now on, in all threads.
    ///
    /// For a missing folder, the owner is that of its nearest existing parent.
    ///
    /// Called before the command opens its first file.
    package static func take(on folders: [FilePath]) throws(Failure) {
        guard geteuid() == 0 else { return }
        let found = folders.compactMap { folder in owner(of: folder).map { (path: folder, owner: $0) } }
        switch ActingOwner(startedBy: geteuid(), on: found) {
        case .unchanged: return
        case .several(let folders):
            throw .ownedByDifferentUsers(folders)
        case .owner(let user, let folder): try take(user, of: folder)
        }
    }

    private static func take(_ user: User, of folder: FilePath) throws(Failure) {
        let account = Account(user)
        var groups = account.groups
        // Root's setgid(2) and setuid(2) set all three ids, so that there is no way back.
        guard unsafe setgroups(groups.count, &groups) == 0, setgid(account.group) == 0, setuid(user.id) == 0
        else {
            let reason = SystemError(errno).reason
            let command = account.command(CommandLine.arguments)
            throw .cannotAct(as: account.name, on: folder, reason: reason, command: command)
        }
        let nearest = existing(folder)
        guard unsafe nearest.withPlatformString({ unsafe access($0, R_OK | X_OK) }) == 0 else {
            throw .cannotReach(folder, as: account.name, reason: SystemError(errno).reason)
        }
        taken.withLock { $0 = (account.name, folder) }
    }

    /// The name of a folder's owner if this process stays root and the folder belongs to another user.
    ///
    /// For a folder that is determined only while the process runs.
    package static func stranger(of folder: FilePath) -> String? {
        guard geteuid() == 0, let owner = owner(of: folder), owner.id != 0 else { return nil }
        return Account(owner).name
    }

    /// The name of a folder's owner if the folder exists and belongs to another user than this process acts as.
    package static func stranger(to folder: FilePath) -> String? {
        guard let facts = facts(of: folder), facts.st_uid != geteuid() else { return nil }
        return Account(User(id: facts.st_uid, group: facts.st_gid)).name
    }

    /// Returns the folder, or its nearest existing parent.
    private static func existing(_ folder: FilePath) -> FilePath {
        var folder = folder
        while folder != "/", facts(of: folder) == nil { folder = folder.parent }
        return folder
    }

    private static func owner(of folder: FilePath) -> User? {
        facts(of: existing(folder)).map { User(id: $0.st_uid, group: $0.st_gid) }
    }

    private static func facts(of path: FilePath) -> stat? {
        var facts = stat()
        return unsafe path.withPlatformString { unsafe lstat($0, &facts) } == 0 ? facts : nil
    }

    /// Adds the acting user to a failure caused by missing permissions.
    static func explained(_ failure: Failure) -> Failure {
        taken.withLock { $0 }.map { failure.explained(as: $0.name, on: $0.folder) } ?? failure
    }
}

extension Failure {
    package static func ownedByDifferentUsers(_ folders: [FilePath]) -> Failure {
        let list = folders.map(\.string).joined(separator: ", ")
        return Failure(
            "these folders belong to different users, and one process acts as one of them: \(list)",
            hint: "run one process for each user, with the folders that belong to it.",
            code: .usage
        )
    }

    package static func cannotAct(as name: String, on folder: FilePath, reason: String, command: String) -> Failure {
        Failure(
            "\(folder) belongs to \(name), and root cannot act as \(name) here: \(reason)",
            hint: "run it as \(name): \(command)",
            code: .disk
        )
    }

    package static func cannotReach(_ folder: FilePath, as name: String, reason: String) -> Failure {
        Failure(
            "\(folder) belongs to \(name), and \(name) cannot reach it: \(reason)",
            hint: "let \(name) pass through the folders above it, or run the command where the service runs.",
            code: .disk
        )
    }

    /// Returns the same failure, with the acting user added if it is caused by missing permissions.
    package func explained(as name: String, on folder: FilePath) -> Failure {
        guard message.lowercased().contains("permission denied") else { return self }
        return Failure(
            message,
            hint: (hint.map { "\($0)\n" } ?? "")
                + "started by root, this command acts as \(name), who owns \(folder): "
                + "the user \(name) needs permission.",
            code: code
        )
    }
}

/// A user's name and group, from the system.
package struct Account {
    /// The name, or the id if the user has no name.
    package let name: String
    let group: UInt32
    let groups: [UInt32]
    private let hasName: Bool
    private let id: UInt32

    package init(_ user: ActingOwner.User) {
        id = user.id
        guard let entry = unsafe getpwuid(user.id) else {
            (name, group, groups, hasName) = ("user \(user.id)", user.group, [user.group], false)
            return
        }
        name = unsafe String(cString: entry.pointee.pw_name)
        group = unsafe entry.pointee.pw_gid
        var count: Int32 = 256
        var found = [UInt32](repeating: 0, count: Int(count))
        let isWhole = unsafe getgrouplist(name, group, &found, &count) >= 0
        groups = isWhole ? Array(found.prefix(Int(count))) : [group]
        hasName = true
    }

    /// Returns a command line that runs these words as this user.
    package func command(_ words: [String]) -> String {
        let line = ([words.first.map { FilePath($0).name ?? $0 } ?? ""] + words.dropFirst()).map(shellWord)
        let user = hasName ? "runuser -u \(name)" : "setpriv --reuid \(id) --regid \(group) --clear-groups"
        return "\(user) -- \(line.joined(separator: " "))"
    }
}
