import Glibc
import PatchFormat
package import SystemPackage

/// The files below a folder whose owner is not the folder's owner.
package struct ForeignFiles: Equatable, Sendable {
    package let count: Int
    /// One of the files.
    package let example: FilePath
    /// The owner of the folder and its group: `patchline:patchline`.
    package let owner: String

    package init(count: Int, example: FilePath, owner: String) {
        (self.count, self.example, self.owner) = (count, example, owner)
    }

    /// Examines every file of `folder` without following links.
    ///
    /// Nil if all belong to its owner.
    ///
    /// Folders that this user cannot list are skipped.
    package init?(in folder: FilePath) {
        var root = stat()
        guard unsafe folder.withPlatformString({ unsafe lstat($0, &root) }) == 0 else { return nil }
        var count = 0
        var example: FilePath?
        var open = [folder.string]
        while let next = open.popLast() {
            for (path, facts) in Self.entries(of: next) {
                if facts.st_uid != root.st_uid {
                    count += 1
                    example = example ?? FilePath(path)
                }
                if facts.st_mode & S_IFMT == S_IFDIR { open.append(path) }
            }
        }
        guard let example else { return nil }
        (self.count, self.example) = (count, example)
        owner = "\(Self.name(ofUser: root.st_uid)):\(Self.name(ofGroup: root.st_gid))"
    }

    package var finding: String {
        let files = Words.count(count, "file")
        return
            "\(files) of another user than the folder's, such as \(example): the folder's owner may not read or replace "
            + (count == 1 ? "it" : "them")
    }

    /// - Parameter folder: The folder in the spelling of a command line.
    package func hint(for folder: FilePath) -> String { "as root: chown -Rh \(owner) \(shellWord(folder.string))" }

    private static func entries(of folder: String) -> [(path: String, facts: stat)] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var found: [(String, stat)] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name != ".", name != ".." else { continue }
            var facts = stat()
            let path = "\(folder)/\(name)"
            if unsafe lstat(path, &facts) == 0 { found.append((path, facts)) }
        }
        return found
    }

    private static func name(ofUser id: UInt32) -> String {
        guard let entry = unsafe getpwuid(id) else { return "\(id)" }
        return unsafe String(cString: entry.pointee.pw_name)
    }

    private static func name(ofGroup id: UInt32) -> String {
        guard let entry = unsafe getgrgid(id) else { return "\(id)" }
        return unsafe String(cString: entry.pointee.gr_name)
    }
}
