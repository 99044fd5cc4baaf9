package import PatchFormat
package import PatchStore
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// The storage of one app's published tree.
///
/// Every file but the timestamp is written once, under a name that determines its content or a version that is never used again, so
/// writers cannot collide. The one difficult operation is ``exchange(_:for:)``, compare-and-swap of the timestamp, which makes
/// every file written before it the current state. A folder does it under its lock; an object store can use conditional writes.
///
/// Reading needs no lock. Calls block.
package protocol TreeStorage: Sendable {
    /// The size and edition of a file; nil if it does not exist.
    func status(of file: TreePath.File) throws(ServerError) -> StoredFile?

    /// - Returns: nil if it does not exist.
    /// - Throws: `file` with `tooLarge` if it has more than `limit` bytes.
    func open(_ file: TreePath.File, limit: Int) throws(ServerError) -> (any FileReader)?

    /// All files of the tree; opens none of them.
    func listing() throws(ServerError) -> TreeListing

    /// A listing of its targets and packs alone, which are few compared with its objects.
    func listingOfPacks() throws(ServerError) -> TreeListing

    /// All roles in the tree but the timestamp.
    func roles() throws(ServerError) -> [TreePath.File]

    /// Writes missing and different files, and keeps correct ones.
    ///
    /// Afterwards: every one of these files is durable and visible to readers. If it throws, any of them may be.
    /// - Parameter progress: called with the number of finished files.
    func put(_ writes: [TreeWrite], progress: (_ done: Int) -> Void) throws(ServerError) -> TreeChange

    /// Replaces the timestamp, if it is still the one that the writer read.
    ///
    /// Afterwards: readers see the new state, durably. An identical timestamp is kept.
    /// - Parameter expected: nil if none may exist yet.
    /// - Throws: `movedOn`, with nothing changed, if it is another one.
    func exchange(_ timestamp: [UInt8], for expected: [UInt8]?) throws(ServerError) -> TreeChange

    /// Removes these files, ignoring missing ones.
    ///
    /// Afterwards: durable.
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
        /// Copied, and checked against the digest.
        case file(FilePath, SHA256Digest)
        /// Copied from a tree, and checked against the digest.
        case stored(TreePath.File, any TreeStorage, SHA256Digest)
        /// A compressed form from a tree, copied unchecked: its bytes are not relied on.
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
    /// Objects and targets whose bytes did not match their name, by path relative to the app's folder.
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
    /// - Returns: nil if it does not exist.
    package func read(_ file: TreePath.File, limit: Int) throws(ServerError) -> [UInt8]? {
        guard let reader = try open(file, limit: limit) else { return nil }
        var bytes: [UInt8] = []
        do throws(FileError) { while let chunk = try reader.next() { bytes += chunk } } catch { throw .file(error) }
        return bytes
    }

    /// - Returns: nil if it does not exist.
    package func fingerprint(of file: TreePath.File) throws(ServerError) -> Fingerprint? {
        guard let reader = try open(file, limit: Limits.object) else { return nil }
        do throws(FileError) { return try reader.fingerprint() } catch { throw .file(error) }
    }

    package func put(_ writes: [TreeWrite]) throws(ServerError) -> TreeChange {
        try put(writes) { _ in }
    }
}
