package import Linux
package import PatchFormat
import SystemPackage

/// A part with all the bytes of its entry, which is no object yet.
package struct SealedPart: Equatable, Sendable {
    package let digest: SHA256Digest
    /// In bytes.
    package let size: Int
    let path: FilePath
}

/// Received parts that become objects together: a few waits for the disk instead of three each.
///
/// A batch's contents are made durable, then its parts are renamed, then its names are made durable by the sync for the
/// next batch's contents, or by ``finish()``. So nothing ever stands under an object's name that a power cut could damage,
/// and what a crash costs is at most the batch under way and the one that fills meanwhile, whose parts the next sync finds
/// complete or fetches again.
package struct ObjectBatch: Sendable {
    /// How much a crash may cost: some seconds of a slow line.
    package struct Bounds: Sendable {
        package var count = 2_000
        /// In bytes.
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

    /// Begin before the first part of it is written.
    ///
    /// - Parameter bounds: nil for the store's.
    package init(in store: ObjectStore, bounds: Bounds? = nil) throws(FileError) {
        self.store = store
        self.bounds = bounds ?? store.bounds
        disk = try store.files.beginBatch(on: store.root)
    }

    /// Afterwards: nothing more is durable.
    ///
    /// - Returns: what is to be committed now, because the batch is full with this part.
    package mutating func add(_ part: SealedPart) -> Full? {
        filling.parts.append(part)
        filling.size += part.size
        guard filling.parts.count >= bounds.count || filling.size >= bounds.size else { return nil }
        defer { filling = Full() }
        return filling
    }

    /// Makes objects of parts, one batch after the other; others may come in meanwhile.
    ///
    /// Afterwards: they are there; their names are durable with the next sync.
    /// - Returns: record them once nothing will be linked any more.
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

    /// Commits what is left, when no other commit runs.
    ///
    /// Afterwards: every object is there, durable; and so is every other, for an earlier batch may have been stopped before
    /// this.
    /// - Returns: those that were made now.
    package mutating func finish() throws(FileError) -> [SHA256Digest: FileIdentity] {
        let made = filling.parts.isEmpty ? [:] : try commit(filling)
        filling = Full()
        try disk.sync()
        return made
    }
}
