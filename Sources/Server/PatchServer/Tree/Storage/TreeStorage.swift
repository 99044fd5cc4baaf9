package import PatchFormat
package import PatchStore
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// The storage of one app's published tree.
///
/// Every file but the timestamp is written once, under a name that gives its content or a number that is never used
/// again, so writers cannot collide there. The one hard verb is ``exchange(_:for:)``, compare-and-swap of the
/// timestamp, which makes every file put before it the current state. A folder does it under its lock; an object store
/// can do it with conditional writes.
///
/// Reading needs no lock. Calls block.
package protocol TreeStorage: Sendable {
    /// The size and edition of a file; nil when it does not exist.
    func status(of file: TreePath.File) throws(ServerError) -> StoredFile?

    /// - Returns: nil when it does not exist.
    /// - Throws: `file` with `tooLarge` when there are more than `limit` bytes.
    func open(_ file: TreePath.File, limit: Int) throws(ServerError) -> (any FileReader)?

    /// All files of the tree; opens none of them.
    func listing() throws(ServerError) -> TreeListing

    /// The same of its targets and packs alone, which are few beside its objects.
    func listingOfPacks() throws(ServerError) -> TreeListing

    /// All roles in the tree but the timestamp.
    func roles() throws(ServerError) -> [TreePath.File]

    /// Writes files that are missing or different; leaves correct ones alone.
    ///
    /// Afterwards: every one of these files is durable and visible to readers. When it throws, any of them may be.
    /// - Parameter progress: called with the number of files done.
    func put(_ writes: [TreeWrite], progress: (_ done: Int) -> Void) throws(ServerError) -> TreeChange

    /// Replaces the timestamp, if it still is the one that the writer read.
    ///
    /// Afterwards: readers see the new state, durably. An identical timestamp is left alone.
    /// - Parameter expected: nil when there must be none yet.
    /// - Throws: `movedOn`, with nothing changed, when it is another.
    func exchange(_ timestamp: [UInt8], for expected: [UInt8]?) throws(ServerError) -> TreeChange

    /// Removes these files; one that is gone already is no error. Afterwards: durable.
    func remove(_ files: [TreePath.File]) throws(ServerError)

    /// Removes the half-written files of an interrupted writer.
    ///
    /// - Returns: the size of each.
    func removeHalfWritten() throws(ServerError) -> [Int]
}

/// A stored file of the tree, unopened.
package struct StoredFile: Hashable, Sendable {
    package let size: Int
    /// When it was last written, by the storage's clock.
    package let modified: UTCTime
    /// Changes when the file is replaced.
    package let edition: String

    package init(size: Int, modified: UTCTime, edition: String) {
        self.size = size
        self.modified = modified
        self.edition = edition
    }
}

/// A file of the tree that is to be written.
package struct TreeWrite: Sendable {
    package enum Source: Sendable {
        case bytes([UInt8])
        /// Copied, and compared with the digest meanwhile.
        case file(FilePath, SHA256Digest)
        /// The same, from a tree.
        case stored(TreePath.File, any TreeStorage, SHA256Digest)
        /// A compressed form from a tree, copied as it is: nobody relies on its bytes.
        case form(TreePath.File, any TreeStorage)
    }

    package let file: TreePath.File
    package let source: Source

    package init(file: TreePath.File, source: Source) {
        self.file = file
        self.source = source
    }
}

/// The changes made to a tree.
package struct TreeChange: Equatable, Sendable {
    /// Files written, and their bytes.
    package var files = 0
    package var bytes = 0
    /// Objects and targets that had other bytes than their name says, by path below the app's folder.
    package var repaired: [String] = []

    package static let nothing = TreeChange()

    package init(files: Int = 0, bytes: Int = 0) {
        self.files = files
        self.bytes = bytes
    }

    package static func += (left: inout TreeChange, right: TreeChange) {
        left.files += right.files
        left.bytes += right.bytes
        left.repaired += right.repaired
    }
}

extension TreeStorage {
    /// - Returns: nil when it does not exist.
    package func read(_ file: TreePath.File, limit: Int) throws(ServerError) -> [UInt8]? {
        guard let reader = try open(file, limit: limit) else { return nil }
        var bytes: [UInt8] = []
        do throws(FileError) { while let chunk = try reader.next() { bytes += chunk } } catch { throw .file(error) }
        return bytes
    }

    /// - Returns: nil when it does not exist.
    package func fingerprint(of file: TreePath.File) throws(ServerError) -> Fingerprint? {
        guard let reader = try open(file, limit: Limits.object) else { return nil }
        do throws(FileError) { return try reader.fingerprint() } catch { throw .file(error) }
    }

    package func put(_ writes: [TreeWrite]) throws(ServerError) -> TreeChange {
        try put(writes) { _ in }
    }
}
