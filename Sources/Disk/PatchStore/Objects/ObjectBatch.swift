package import Linux
package import PatchFormat
import SystemPackage

/// A part with all bytes of its entry that is not an object yet.
package struct SealedPart: Equatable, Sendable {
    package let digest: SHA256Digest
    /// The size in bytes.
    package let size: Int
    let path: FilePath
}

/// Received parts that become objects together, with a few waits for the disk instead of three for each.
///
/// First a batch's contents are made durable, then its parts are renamed. The names become durable with the sync of the next
/// batch's contents, or with ``finish()``. So no file under an object's name can be damaged by a power failure. A crash costs at
/// most the current batch and the one being filled. The next sync finds their parts complete, or downloads them again.
package struct ObjectBatch: Sendable {
    /// The limits of a batch, and so of the loss in a crash: some seconds of a slow connection.
    package struct Bounds: Sendable {
        package var count = 2_000
        /// The size in bytes.
        package var size = 64_000_000

        package init() {}
    }

    /// Parts that become objects in one ``commit(_:)``.
    package struct Full: Equatable, Sendable {
        fileprivate var parts: [SealedPart] = []
        fileprivate var size = 0
    }

    private let store: ObjectStore
    private let bounds: Bounds
    private let disk: any FileBatch
    private var filling = Full()

    /// Begins a batch.
    ///
    /// Must be called before its first part is written.
    ///
    /// - Parameter bounds: nil for the store's bounds.
    package init(in store: ObjectStore, bounds: Bounds? = nil) throws(FileError) {
        self.store = store
        self.bounds = bounds ?? store.bounds
        disk = try store.files.beginBatch(on: store.root)
    }

    /// Adds a part.
    ///
    /// It does not become durable yet.
    ///
    /// - Returns: the batch to commit now, if this part has filled it.
    package mutating func add(_ part: SealedPart) -> Full? {
        filling.parts.append(part)
        filling.size += part.size
        guard filling.parts.count >= bounds.count || filling.size >= bounds.size else { return nil }
        defer { filling = Full() }
        return filling
    }

    /// Makes objects of a full batch, one batch at a time.
    ///
    /// Other parts may be added meanwhile. Afterwards the objects exist. Their names are durable with the next sync.
    /// - Returns: the identities to record once all links are made.
    package func commit(_ full: Full) throws(FileError) -> [SHA256Digest: FileIdentity] {
        try disk.sync()
        var made: [SHA256Digest: FileIdentity] = [:]
        var directories: Set<FilePath> = []
        for part in full.parts {
            let directory = store.directory(of: part.digest)
            if directories.insert(directory).inserted {
                try store.files.addDirectory(directory, permissions: store.directoryPermissions)
            }
            let path = store.path(of: part.digest)
            try store.files.rename(part.path, to: path)
            made[part.digest] = try store.files.identity(of: path)
        }
        return made
    }

    /// Commits the remaining parts.
    ///
    /// No other commit may run. Afterwards every object is durable, including those of an earlier batch that was interrupted.
    /// - Returns: the objects made now.
    package mutating func finish() throws(FileError) -> [SHA256Digest: FileIdentity] {
        let made = filling.parts.isEmpty ? [:] : try commit(filling)
        filling = Full()
        try disk.sync()
        return made
    }
}
