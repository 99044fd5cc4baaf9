import Linux
package import PatchStore
package import SystemPackage

/// A folder that its owner names, and changes to it: one at a time, each done in one step and durable when it returns.
///
/// What is uploaded grows in a folder of its own that nobody sees, and gets its name when it is whole; a folder that is
/// deleted goes there first, and then bit by bit. What a crash leaves there is removed by the next start.
///
/// No symlink is followed: a link is nothing here, wherever it leads. Each name on the way is looked at before each change;
/// who else writes in the folder is trusted not to put a link into a folder's place at that very moment.
package actor ContentFolder {
    /// Where uploads grow; a name that no path has, for it begins with a dot.
    static let hiddenName = ".patchline-uploads"

    let files: any FileOperations
    /// Itself trusted, and no link.
    nonisolated let root: FilePath
    private let limits: UploaderLimits
    private var isTidy = false
    private var count = 0

    /// - Parameter root: absolute; it is not a link.
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
        // What has no path here is not told.
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

    /// Returns where there is a file.
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
            // The new name first: a power cut between the two leaves both, not none.
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

    /// The path of a new file to write an upload into.
    func nextHidden() throws(UploaderError) -> FilePath {
        try tidy()
        count += 1
        return hiddenFolder.at(String(count))
    }

    /// Gives a whole, durable upload its name, or that with a number where it is taken.
    func keep(_ upload: FilePath, as name: ItemName, in folder: ItemPath) throws(UploaderError) {
        try checkFolder(at: folder)
        let new = try free(folder.appending(name)).path(below: root)
        try onDisk { files throws(FileError) in
            try files.rename(upload, to: new)
            try files.syncDirectory(new.parent)
        }
    }

    /// Removes, once, what uploads and deletions before this start left.
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
        /// Bytes.
        case file(Int)
        case folder
    }

    /// What is there, where all on the way are folders; nil for everything else, and for a link.
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

    /// - Parameter path: what is on the way to it was looked at.
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

    /// The path itself, or the first of `name (1)`, `name (2)`, … that nothing has, not even a link.
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
    /// 0644: what others may read, where the folder lets them in.
    static let sharedFile = FilePermissions(rawValue: 0o644)
    /// 0755.
    static let sharedDirectory = FilePermissions(rawValue: 0o755)
}
