import Linux
package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// A published tree in a folder, which any static file server can serve.
///
/// The writer holds the lock of the parent folder, which makes comparing and replacing atomic.
package struct FolderStorage: TreeStorage {
    /// How many files become durable together.
    private static let batch = 256
    /// The number of files above which one wait for the whole disk is cheaper than one for each file.
    private static let many = 16

    package let app: AppID
    /// The folder with `metadata`, `targets` and `objects`.
    package let tree: FilePath
    /// The folder for half-written files, on the same disk.
    package let incoming: FilePath
    package let files: any FileOperations
    /// The permissions of scripts and assets.
    package var objectPermissions = FilePermissions.sealed
    /// Compares the bytes of every existing file; otherwise the size suffices for files named by their digest.
    package var rereads = true

    package init(
        app: AppID,
        tree: FilePath,
        incoming: FilePath,
        files: any FileOperations,
        objectPermissions: FilePermissions = .sealed,
        rereads: Bool = true
    ) {
        self.app = app
        self.tree = tree
        self.incoming = incoming
        self.files = files
        self.objectPermissions = objectPermissions
        self.rereads = rereads
    }

    private func path(of file: TreePath.File) -> FilePath {
        tree.at(TreePath(app, file).path)
    }

    /// The folder of a file, relative to the tree.
    ///
    /// Files in the same folder have the same text, whose `FilePath` is made once.
    private func folder(of file: TreePath.File) -> String {
        let path = TreePath(app, file).path
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    package func status(of file: TreePath.File) throws(ServerError) -> StoredFile? {
        do throws(FileError) { return try files.identity(of: path(of: file)).map(StoredFile.init) } catch {
            throw .file(error)
        }
    }

    package func open(_ file: TreePath.File, limit: Int) throws(ServerError) -> (any FileReader)? {
        do throws(FileError) {
            return try files.open(path(of: file), limit: limit)
        } catch .notFound {
            return nil
        } catch { throw .file(error) }
    }

    package func listing() throws(ServerError) -> TreeListing {
        do throws(FileError) { return try TreeListing(of: app, in: tree, files: files) } catch { throw .file(error) }
    }

    package func listingOfPacks() throws(ServerError) -> TreeListing {
        do throws(FileError) {
            return try TreeListing(of: app, in: tree, below: ["targets", "packs"], files: files)
        } catch { throw .file(error) }
    }

    /// The files for other systems' clients.
    package func listingOfSites() throws(ServerError) -> TreeListing {
        do throws(FileError) {
            return try TreeListing(of: app, in: tree, below: ["gateways"], files: files)
        } catch { throw .file(error) }
    }

    package func roles() throws(ServerError) -> [TreePath.File] {
        do throws(FileError) {
            return try files.list(tree.at("metadata")).compactMap { TreePath.role(named: $0) }
        } catch { throw .file(error) }
    }
}

extension FolderStorage {
    package func put(_ writes: [TreeWrite], progress: (_ done: Int) -> Void) throws(ServerError) -> TreeChange {
        var (change, directories) = (TreeChange(), Set<String>())
        do throws(FileError) {
            try files.checkFolders(to: incoming, from: incoming)
            for directory in Set(writes.map { folder(of: $0.file) }) {
                try files.checkFolders(to: tree.at(directory), from: tree)
            }
        } catch { throw .file(error) }
        var batch: (any FileBatch)?
        var rest = writes[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.batch)
            rest = rest.dropFirst(part.count)
            var wanted: [TreeWrite] = []
            for write in part {
                // Existing files too: their writer may have been interrupted before the name was durable.
                directories.insert(folder(of: write.file))
                let existing = try existing(write)
                if existing != .right { wanted.append(write) }
                if existing == .wrong, write.file.digest != nil {
                    change.repaired.append(TreePath(app, write.file).path)
                }
            }
            if batch == nil, !wanted.isEmpty { batch = try beginBatch(of: writes.count) }
            change.bytes += try replace(wanted)
            change.files += wanted.count
            progress(writes.count - rest.count)
        }
        do throws(FileError) {
            if let batch, directories.count >= Self.many {
                try batch.sync()
            } else {
                for directory in directories.sorted() { try files.syncDirectory(tree.at(directory)) }
            }
        } catch { throw .file(error) }
        return change
    }

    /// - Returns: nil if so few files change that each is made durable by itself.
    private func beginBatch(of count: Int) throws(ServerError) -> (any FileBatch)? {
        do throws(FileError) {
            try files.makeDirectory(incoming)
            return count < Self.many ? nil : try files.beginBatch(on: incoming)
        } catch { throw .file(error) }
    }

    package func exchange(_ timestamp: [UInt8], for expected: [UInt8]?) throws(ServerError) -> TreeChange {
        let existing = try read(.timestamp, limit: Limits.timestamp)
        if existing == timestamp {
            do throws(FileError) { try files.syncDirectory(path(of: .timestamp).parent) } catch {
                throw .file(error)
            }
            return .nothing
        }
        guard existing == expected else { throw .movedOn(app) }
        return try put([TreeWrite(file: .timestamp, source: .bytes(timestamp))])
    }

    private enum Present {
        case missing, right, wrong
    }

    private func existing(_ write: TreeWrite) throws(ServerError) -> Present {
        if case .form(let file, let storage) = write.source {
            // A file removed after the listing is not needed.
            guard try storage.status(of: file) != nil else { return .right }
            if rereads { return try existing(write, like: file, of: storage) }
        }
        let destination = path(of: write.file)
        do throws(FileError) {
            guard let status = try files.status(of: destination) else { return .missing }
            guard status.kind == .file else { return .wrong }
            let digest: SHA256Digest
            switch write.source {
            case .bytes(let bytes):
                guard status.identity.size == bytes.count else { return .wrong }
                return try files.read(destination, limit: bytes.count) == bytes ? .right : .wrong
            case .file(_, let expected), .stored(_, _, let expected): digest = expected
            case .form:
                guard try size(of: write.source) == status.identity.size else { return .wrong }
                return .right
            }
            // Size comparison needs a name that determines the content.
            if !rereads, write.file.digest != nil, try size(of: write.source) == status.identity.size { return .right }
            return try files.fingerprint(of: destination, limit: Limits.object).sha256 == digest ? .right : .wrong
        } catch { throw .file(error) }
    }

    private func existing(
        _ write: TreeWrite,
        like file: TreePath.File,
        of other: any TreeStorage
    ) throws(ServerError) -> Present {
        guard try status(of: write.file) != nil else { return .missing }
        return try fingerprint(of: write.file) == (try other.fingerprint(of: file)) ? .right : .wrong
    }

    private func size(of source: TreeWrite.Source) throws(FileError) -> Int? {
        switch source {
        case .bytes(let bytes): bytes.count
        case .file(let path, _): try files.identity(of: path)?.size
        case .stored(let file, let storage, _), .form(let file, let storage): try? storage.status(of: file)?.size
        }
    }

    /// Makes all of these files durable together, and then renames them.
    ///
    /// - Returns: their size in bytes.
    private func replace(_ writes: [TreeWrite]) throws(ServerError) -> Int {
        guard !writes.isEmpty else { return 0 }
        let batch = try beginBatch(of: writes.count)
        var size = 0
        for (number, write) in writes.enumerated() {
            size += try fill(incoming.at("\(number)"), with: write, isAlone: batch == nil)
        }
        do throws(FileError) {
            try makeFolders(Set(writes.map { folder(of: $0.file) }), in: batch)
            try batch?.sync()
            for (number, write) in writes.enumerated() {
                try files.rename(incoming.at("\(number)"), to: path(of: write.file))
            }
        } catch { throw .file(error) }
        return size
    }

    /// Makes folders of the tree durable: each at once, or all of them with the batch.
    private func makeFolders(_ folders: Set<String>, in batch: (any FileBatch)?) throws(FileError) {
        guard batch != nil else {
            for folder in folders.sorted() { try files.makeDirectory(tree.at(folder), permissions: .sharedDirectory) }
            return
        }
        try files.makeDirectory(tree, permissions: .sharedDirectory)
        var known: Set<String> = []
        for folder in folders {
            var path = ""
            for name in folder.split(separator: "/") {
                path += (path.isEmpty ? "" : "/") + name
                guard known.insert(path).inserted, try files.status(of: tree.at(path)) == nil else { continue }
                try files.addDirectory(tree.at(path), permissions: .sharedDirectory)
            }
        }
    }

    /// - Parameter isAlone: whether to make it durable here, instead of together with others.
    /// - Returns: its size in bytes.
    private func fill(_ new: FilePath, with write: TreeWrite, isAlone: Bool) throws(ServerError) -> Int {
        let writer: any FileWriter
        do throws(FileError) {
            try files.removeIfPresent(new)
            writer = try files.create(new, permissions: permissions(of: write))
        } catch { throw .file(error) }
        switch write.source {
        case .bytes(let bytes):
            do throws(FileError) { try writer.append(bytes) } catch { throw .file(error) }
        case .file(let path, let digest):
            let reader: any FileReader
            do throws(FileError) { reader = try files.open(path, limit: Limits.object) } catch { throw .file(error) }
            guard try copy(reader, to: writer) == digest else {
                throw .release(.trust(.wrongDigest(name: TreePath(app, write.file).path, algorithm: "sha256")))
            }
        case .stored(let file, let storage, let digest):
            let name = TreePath(app, file).path
            guard let reader = try storage.open(file, limit: Limits.object) else {
                throw .treeFileMissing(app, "tree/\(app)/\(name)")
            }
            guard try copy(reader, to: writer) == digest else {
                let last = name.split(separator: "/").last.map(String.init) ?? name
                throw .tree(app, .wrongDigest(name: last, algorithm: "sha256"))
            }
        case .form(let file, let storage):
            guard let reader = try storage.open(file, limit: Limits.object) else {
                throw .treeFileMissing(app, "tree/\(app)/\(TreePath(app, file).path)")
            }
            _ = try copy(reader, to: writer)
        }
        let size = writer.offset
        do throws(FileError) { if isAlone { try writer.finish() } else { try writer.close() } } catch {
            throw .file(error)
        }
        return size
    }

    /// - Returns: the digest of the copied bytes: the source may have changed since it was verified.
    private func copy(_ reader: any FileReader, to writer: any FileWriter) throws(ServerError) -> SHA256Digest {
        var digester = Digester()
        do throws(FileError) {
            while let chunk = try reader.next() {
                digester.update(chunk)
                try writer.append(chunk)
            }
        } catch { throw .file(error) }
        return digester.finish().sha256
    }

    private func permissions(of write: TreeWrite) -> FilePermissions {
        if case .bytes = write.source { .sharedFile } else { objectPermissions }
    }
}

extension FolderStorage {
    package func remove(_ gone: [TreePath.File]) throws(ServerError) {
        var directories: Set<String> = []
        do throws(FileError) {
            for file in gone {
                try files.removeIfPresent(path(of: file))
                directories.insert(folder(of: file))
            }
            for directory in directories.sorted() { try settle(directory) }
        } catch { throw .file(error) }
    }

    /// Syncs a directory after removals, and removes an empty directory below `targets`.
    private func settle(_ directory: String) throws(FileError) {
        var directory = directory
        while directory.hasPrefix("targets/"), try files.list(tree.at(directory)).isEmpty {
            try files.removeTree(tree.at(directory))
            directory = String(directory[..<(directory.lastIndex(of: "/") ?? directory.startIndex)])
        }
        try files.syncDirectory(tree.at(directory))
    }

    package func removeHalfWritten() throws(ServerError) -> [Int] {
        do throws(FileError) {
            guard try files.status(of: incoming) != nil else { return [] }
            var sizes: [Int] = []
            for name in try files.list(incoming) {
                sizes.append(try files.identity(of: incoming.at(name))?.size ?? 0)
            }
            try files.removeTree(incoming)
            return sizes
        } catch { throw .file(error) }
    }
}

extension StoredFile {
    fileprivate init(_ identity: FileIdentity) {
        self.init(size: identity.size, modified: UTCTime(nanoseconds: identity.modified), edition: "\(identity)")
    }
}

extension TreePath.File {
    /// The digest in the name of a file.
    package var digest: SHA256Digest? {
        switch self {
        case .target(_, let digest), .object(let digest): digest
        case .timestamp, .root, .role, .pack, .basePack, .packIndex, .express, .gateway, .compressed: nil
        }
    }
}
