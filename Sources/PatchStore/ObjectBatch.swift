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
/// and what a crash costs is at most the batch under way, whose parts the next sync finds complete or fetches again.
package struct ObjectBatch {
    /// How much a crash may cost: some seconds of a slow line.
    package struct Bounds: Sendable {
        package var count = 2_000
        /// In bytes.
        package var size = 64_000_000

        package init() {}
    }

    private let store: ObjectStore
    private let bounds: Bounds
    private let disk: any FileBatch
    private var waiting: [SealedPart] = []
    private var waitingBytes = 0
    private var directories: Set<FilePath> = []

    /// Begin before the first part of it is written.
    package init(in store: ObjectStore, bounds: Bounds = Bounds()) throws(FileError) {
        self.store = store
        self.bounds = bounds
        disk = try store.files.beginBatch(on: store.root)
    }

    /// Afterwards: nothing more is durable, unless the batch was full.
    ///
    /// - Returns: the objects that were made now; record them once nothing will be linked any more.
    package mutating func add(_ part: SealedPart) throws(FileError) -> [SHA256Digest: FileIdentity] {
        waiting.append(part)
        waitingBytes += part.size
        return waiting.count >= bounds.count || waitingBytes >= bounds.size ? try commit() : [:]
    }

    /// Afterwards: every object of the batch is there, durable; and so is every other, for an earlier batch may have been
    /// stopped before this.
    ///
    /// - Returns: those that were made now.
    package mutating func finish() throws(FileError) -> [SHA256Digest: FileIdentity] {
        let made = waiting.isEmpty ? [:] : try commit()
        try disk.sync()
        return made
    }

    private mutating func commit() throws(FileError) -> [SHA256Digest: FileIdentity] {
        try disk.sync()
        var made: [SHA256Digest: FileIdentity] = [:]
        for part in waiting {
            let directory = store.directory(of: part.digest)
            if directories.insert(directory).inserted {
                try store.files.addDirectory(directory, permissions: store.directoryPermissions)
            }
            let path = store.path(of: part.digest)
            try store.files.rename(part.path, to: path)
            made[part.digest] = try store.files.identity(of: path)
        }
        (waiting, waitingBytes) = ([], 0)
        return made
    }
}
