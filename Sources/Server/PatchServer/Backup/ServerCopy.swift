import Linux
package import PatchStore
package import SystemPackage

/// Updates a copy of a server's folder: `patchsrv backup` writes it, and `patchsrv restore` reads it.
///
/// Nearly every file of a server is written once, so a first ``transfer(progress:)`` needs no lock and may take long,
/// while releases are published. The next one, under the folder's lock, quickly copies the changes since; the copy is
/// then the state of that moment.
package struct ServerCopy {
    /// The folders of a server that are copied: without its lock, half-written files and uploads.
    package static let folders = ["apps", "drafts", "tree"]

    private let source: FilePath
    private let target: FilePath
    private let files: any FileOperations
    private let single: [String]
    private var copied: [String: FileIdentity] = [:]
    private var folders: Set<String> = []

    package var fileCount: Int { copied.count }
    package var bytes: Int { copied.values.reduce(0) { $0 + $1.size } }

    /// - Parameters:
    ///   - target: a folder that no other process writes to.
    ///   - single: files beside the folders, copied if they exist.
    package init(_ source: FilePath, to target: FilePath, with single: [String] = [], files: any FileOperations) {
        self.single = single
        self.source = source
        self.target = target
        self.files = files
    }

    private struct Found {
        /// Paths relative to the source; a folder precedes its contents.
        var folders: [(path: String, permissions: FilePermissions)] = []
        var files: [(path: String, status: FileStatus)] = []
    }

    /// Copies new and changed files, and removes files that are gone.
    ///
    /// Afterwards: the whole copy is durable.
    ///
    /// - Parameter progress: called with the files looked at, and their total.
    package mutating func transfer(progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }) throws(ServerError) {
        do throws(FileError) {
            let batch = try files.beginBatch(on: target)
            var found = Found()
            for name in Self.folders { try list(name, isTop: true, &found) }
            for name in single { try list(name, isTop: false, &found) }
            try removeDeleted(found)
            for (path, permissions) in found.folders where folders.insert(path).inserted {
                try files.addDirectory(target.at(path), permissions: permissions)
            }
            for (index, file) in found.files.enumerated() {
                try transfer(file.path, file.status)
                progress(index + 1, found.files.count)
            }
            try batch.sync()
        } catch { throw .file(error) }
    }

    /// Skips everything but files and folders: a server never serves it.
    private func list(_ path: String, isTop: Bool, _ found: inout Found) throws(FileError) {
        guard let status = try files.status(of: source.at(path)) else { return }
        switch status.kind {
        case .file where !isTop: found.files.append((path, status))
        case .directory:
            let names: [String]
            do throws(FileError) { names = try files.list(source.at(path)) } catch .notFound { return }
            found.folders.append((path, status.permissions))
            for name in names { try list("\(path)/\(name)", isTop: false, &found) }
        // A link to a folder elsewhere would make a copy that lacks everything.
        case .file, .symbolicLink, .other: if isTop { throw .notDirectory(.list, source.at(path)) }
        }
    }

    private mutating func removeDeleted(_ found: Found) throws(FileError) {
        let paths = Set(found.files.map(\.path))
        for path in copied.keys where !paths.contains(path) {
            try files.removeIfPresent(target.at(path))
            copied[path] = nil
        }
        let existing = Set(found.folders.map(\.path))
        for path in folders where !existing.contains(path) {
            try files.removeTree(target.at(path))
            folders.remove(path)
        }
    }

    private mutating func transfer(_ path: String, _ status: FileStatus) throws(FileError) {
        guard copied[path] != status.identity else { return }
        if copied.removeValue(forKey: path) != nil { try files.remove(target.at(path)) }
        do throws(FileError) {
            let reader = try files.open(source.at(path), limit: status.identity.size)
            let writer = try files.create(target.at(path), permissions: status.permissions)
            while let bytes = try reader.next() { try writer.append(bytes) }
            try writer.close()
            copied[path] = status.identity
        } catch .notFound(.read, source.at(path)) {
            // It was superseded and collected after it was listed.
            return
        }
    }
}
