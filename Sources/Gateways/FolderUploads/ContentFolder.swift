import Linux
package import PatchStore
package import SystemPackage

/// A folder of the device's owner, with serialized changes. Each change is made in one step and is durable when the call returns.
///
/// Uploads are written into a hidden folder and receive their name when they are complete. A deleted folder is moved there first
/// and then removed bit by bit. The next start removes the remains of a crash.
///
/// Symlinks are not followed: a link counts as missing. Each name of a path is examined before each change. Other writers are
/// trusted not to replace a folder by a link at that very moment.
package actor ContentFolder {
    /// The folder for incomplete uploads.
    ///
    /// No item path has its name, because it begins with a dot.
    static let hiddenName = ".patchline-uploads"

    let files: any FileOperations
    /// The root folder.
    ///
    /// It is trusted and not a link.
    nonisolated let root: FilePath
    private let limits: UploaderLimits
    private var isTidy = false
    private var count = 0

    /// - Parameter root: An absolute path that is not a link.
    package init(_ root: FilePath, files: any FileOperations, limits: UploaderLimits = UploaderLimits()) {
        self.root = root
        self.files = files
        self.limits = limits
    }

    // MARK: Reading

    func listing(of folder: ItemPath) throws(UploaderError) -> FolderListing {
        switch try item(at: folder) {
        case nil: throw .notFound(folder)
        case .file?: throw .notFolder(folder)
        case .folder?: break
        }
        let path = folder.path(below: root)
        // Names that are not valid item names are omitted.
        let names = try onDisk { files throws(FileError) in try files.list(path) }.compactMap { try? ItemName($0) }
        guard names.count <= limits.entries else { throw .tooManyEntries(folder, limit: limits.entries) }
        var entries: [FolderListing.Entry] = []
        for name in names {
            switch try status(of: folder.appending(name)) {
            case nil: continue
            case .file(let size)?: entries.append(FolderListing.Entry(name: name, size: size))
            case .folder?: entries.append(FolderListing.Entry(name: name, size: nil))
            }
        }
        return FolderListing(of: folder, entries)
    }

    /// Returns if there is a file at the path, and throws otherwise.
    func checkFile(at path: ItemPath) throws(UploaderError) {
        switch try item(at: path) {
        case nil: throw .notFound(path)
        case .folder?: throw .isFolder(path)
        case .file?: return
        }
    }

    // MARK: Changing

    func carryOut(_ change: FolderChange) throws(UploaderError) {
        switch change {
        case .create(let path): try create(path)
        case .move(let path, let target): try move(path, to: target)
        case .delete(let path): try delete(path)
        }
    }

    private func create(_ path: ItemPath) throws(UploaderError) {
        let parent = path.parent
        try checkFolder(at: parent)
        let made = try free(path).path(below: root)
        try onDisk { files throws(FileError) in
            try files.addDirectory(made, permissions: .sharedDirectory)
            try files.syncDirectory(made.parent)
        }
    }

    private func move(_ path: ItemPath, to target: ItemPath) throws(UploaderError) {
        guard try item(at: path) != nil else { throw .notFound(path) }
        try checkFolder(at: target.parent)
        let (old, new) = (path.path(below: root), try free(target).path(below: root))
        try onDisk { files throws(FileError) in
            try files.rename(old, to: new)
            // The new name is synced first: after a power cut between the two, both names exist instead of neither.
            try files.syncDirectory(new.parent)
            if old.parent != new.parent { try files.syncDirectory(old.parent) }
        }
    }

    private func delete(_ path: ItemPath) throws(UploaderError) {
        let gone = path.path(below: root)
        switch try item(at: path) {
        case nil: throw .notFound(path)
        case .file?:
            try onDisk { files throws(FileError) in
                try files.remove(gone)
                try files.syncDirectory(gone.parent)
            }
        case .folder?:
            let hidden = try nextHidden()
            try onDisk { files throws(FileError) in
                try files.rename(gone, to: hidden)
                try files.syncDirectory(gone.parent)
                try files.removeTree(hidden)
            }
        }
    }

    // MARK: Uploads

    /// Returns the path of a new file for an upload.
    func nextHidden() throws(UploaderError) -> FilePath {
        try tidy()
        count += 1
        return hiddenFolder.at(String(count))
    }

    /// Renames a complete, durable upload to its name, or to that name with a number if it is taken.
    func keep(_ upload: FilePath, as name: ItemName, in folder: ItemPath) throws(UploaderError) {
        try checkFolder(at: folder)
        let new = try free(folder.appending(name)).path(below: root)
        try onDisk { files throws(FileError) in
            try files.rename(upload, to: new)
            try files.syncDirectory(new.parent)
        }
    }

    /// Removes the remains of earlier uploads and deletions, once after each start.
    package func tidy() throws(UploaderError) {
        guard !isTidy else { return }
        let hidden = hiddenFolder
        try onDisk { files throws(FileError) in
            try files.removeTree(hidden)
            try files.addDirectory(hidden)
        }
        isTidy = true
    }

    private var hiddenFolder: FilePath { root.at(Self.hiddenName) }

    // MARK: Looking

    private enum Item: Equatable {
        /// The size in bytes.
        case file(Int)
        case folder
    }

    /// Returns the item at the path, or nil if it is missing or a link, or if its path is not through folders only.
    private func item(at path: ItemPath) throws(UploaderError) -> Item? {
        var way = ItemPath.root
        var found = try status(of: way)
        for name in path.names {
            guard found == .folder else { return nil }
            way = way.appending(name)
            found = try status(of: way)
        }
        return found
    }

    /// - Parameter path: A path whose parents were examined.
    private func status(of path: ItemPath) throws(UploaderError) -> Item? {
        let place = path.path(below: root)
        guard let status = try onDisk({ files throws(FileError) in try files.status(of: place) }) else { return nil }
        switch status.kind {
        case .file: return .file(status.identity.size)
        case .directory: return .folder
        case .symbolicLink, .other: return nil
        }
    }

    private func checkFolder(at path: ItemPath) throws(UploaderError) {
        switch try item(at: path) {
        case nil: throw .notFound(path)
        case .file?: throw .notFolder(path)
        case .folder?: return
        }
    }

    /// Returns the path itself, or the first free one of `name (1)`, `name (2)`, … A link also counts as taken.
    private func free(_ path: ItemPath) throws(UploaderError) -> ItemPath {
        guard let name = path.names.last else { throw .isRoot }
        var free = path
        for number in 1...limits.numbers {
            let place = free.path(below: root)
            if try onDisk({ files throws(FileError) in try files.status(of: place) }) == nil { return free }
            do throws(ItemFault) { free = path.parent.appending(try name.numbered(number)) } catch {
                throw .badPath(error)
            }
        }
        throw .taken(name)
    }

    private func onDisk<Value>(
        _ work: (any FileOperations) throws(FileError) -> Value
    ) throws(UploaderError) -> Value {
        do throws(FileError) { return try work(files) } catch { throw .disk(error) }
    }
}

extension FilePermissions {
    /// 0644: others may read the file if they have access to the folder.
    static let sharedFile = FilePermissions(rawValue: 0o644)
    /// 0755.
    static let sharedDirectory = FilePermissions(rawValue: 0o755)
}
