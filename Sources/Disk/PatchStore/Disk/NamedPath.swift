import Glibc
package import SystemPackage

/// Paths named by an owner: on the command line, in the environment, in a settings file.
///
/// Symbolic links are only followed here and by ``DiskFiles/readOfSystem(_:limit:)``. A system may link `/home` to `/var/home`,
/// and a data partition is often a link. So a named path is resolved once, and nothing below it is reached through a link
/// afterwards: the other operations of this module reject links.
extension FilePath {
    /// The working directory of this process.
    package static var workingDirectory: FilePath {
        guard let text = unsafe getcwd(nil, 0) else { return "/" }
        defer { unsafe free(text) }
        return unsafe FilePath(platformString: text)
    }

    /// A named path, absolute or relative to the working directory, with all links resolved.
    package init(given text: String) { self = FilePath(asNamed: text).followingLinks }

    /// A named path, absolute or relative to the working directory, with its links kept.
    ///
    /// Used for a path that is stored, or read again later, when its links may have other targets. `..` leads to the parent of
    /// the preceding component's target, as in the kernel.
    package init(asNamed text: String) {
        let path = FilePath(text)
        let start = path.isAbsolute ? FilePath("/") : Self.workingDirectory
        self = text.split(separator: "/").reduce(start) { path, name in
            switch name {
            case ".": path
            case "..": path.followingLinks.parent
            default: path == "/" ? FilePath("/\(name)") : path.at(String(name))
            }
        }
    }

    /// A named path of a file that is replaced.
    ///
    /// Links of its folder are resolved; a link in place of the file is replaced itself.
    package init(replacing text: String) {
        let path = FilePath(asNamed: text)
        self = path.name.map { path.parent.followingLinks.at($0) } ?? path
    }

    /// This absolute path with every link resolved, including the last component.
    ///
    /// Names that do not exist are kept. So is a link that cannot be followed (``BrokenLink``): the first use of the path fails
    /// and names it.
    package var followingLinks: FilePath {
        // Bytes, because a link's target may not be UTF-8.
        var rest = Array(Array(string.utf8).split(separator: UInt8(ascii: "/")).reversed())
        var found: [UInt8] = []
        while let name = rest.popLast() {
            if name.elementsEqual(".".utf8) { continue }
            if name.elementsEqual("..".utf8) {
                found.removeSubrange((found.lastIndex(of: UInt8(ascii: "/")) ?? 0)...)
                continue
            }
            let link = found + [UInt8(ascii: "/")] + name
            guard case .leads(let target) = NamedLink(at: link) else {
                found = link
                continue
            }
            if target.first == UInt8(ascii: "/") { found = [] }
            rest += target.split(separator: UInt8(ascii: "/")).reversed()
        }
        return String(validating: found, as: UTF8.self).map { FilePath($0.isEmpty ? "/" : $0) } ?? self
    }
}

/// One step of a named path.
private enum NamedLink {
    case none
    /// A link to an existing file or folder.
    case leads([UInt8])
    case broken(BrokenLink)

    init(at path: [UInt8]) {
        let text = path.map { CChar(bitPattern: $0) } + [0]
        var link = stat()
        guard unsafe lstat(text, &link) == 0, link.st_mode & S_IFMT == S_IFLNK else {
            self = .none
            return
        }
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(text, &bytes, bytes.count)
        guard count > 0 else {
            self = .none
            return
        }
        let target = bytes.prefix(count).map { UInt8(bitPattern: $0) }
        // The kernel follows it first, which detects loops and dangling links.
        var end = stat()
        guard unsafe stat(text, &end) == 0 else {
            let reason: BrokenLink.Reason = errno == ELOOP ? .loop : .missing
            self = .broken(BrokenLink(path: path, target: target, reason))
            return
        }
        // proc(5) shows open pipes and removed files as links whose targets are not paths.
        let folder = path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
        let next = (target.first == UInt8(ascii: "/") ? [] : folder + [UInt8(ascii: "/")]) + target
        var written = stat()
        guard unsafe lstat(next.map { CChar(bitPattern: $0) } + [0], &written) == 0 else {
            self = .none
            return
        }
        self =
            Self.isForeignLink(link, in: folder)
            ? .broken(BrokenLink(path: path, target: target, .another)) : .leads(target)
    }

    /// Whether the link was made by a user other than this one, root and the folder's owner.
    ///
    /// Such a link is in a folder that others may write to, such as `/tmp`, and may be an attack. The kernel rejects such links
    /// too (proc(5), `fs.protected_symlinks`), but not for an already resolved path.
    private static func isForeignLink(_ link: stat, in folder: ArraySlice<UInt8>) -> Bool {
        var facts = stat()
        let text = folder.isEmpty ? "/" : String(decoding: folder, as: UTF8.self)
        guard unsafe stat(text, &facts) == 0 else { return false }
        return ![0, geteuid(), facts.st_uid].contains(link.st_uid)
    }
}

/// A symbolic link that cannot be followed.
package struct BrokenLink: Equatable, Sendable {
    package enum Reason: Sendable {
        case missing
        case loop
        /// Another user made the link.
        case another
    }

    package let link: FilePath
    package let target: String
    package let reason: Reason

    fileprivate init(path: [UInt8], target: [UInt8], _ reason: Reason) {
        (link, self.target) = (FilePath(String(decoding: path, as: UTF8.self)), String(decoding: target, as: UTF8.self))
        self.reason = reason
    }

    /// The first broken link on a path; nil if there is none.
    package init?(onTheWayTo path: FilePath) {
        var here: [UInt8] = []
        for name in path.string.utf8.split(separator: UInt8(ascii: "/")) {
            here += [UInt8(ascii: "/")] + name
            guard case .broken(let link) = NamedLink(at: here) else { continue }
            self = link
            return
        }
        return nil
    }
}

extension BrokenLink: CustomStringConvertible {
    package var description: String {
        switch reason {
        case .missing: "\(link) is a symbolic link to \(target), which does not exist"
        case .loop: "\(link) is a symbolic link to \(target), which leads back to it"
        case .another: "\(link) is a symbolic link that another user made, so it is not followed"
        }
    }
}
