package import PatchFormat
package import PatchStore
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// Where the published tree of one app lies.
///
/// Everything but the timestamp is written once, under a name that says its content or a number that nobody uses again:
/// writers cannot get into each other's way there. Its one hard verb is ``exchange(_:for:)``, compare-and-swap of the
/// timestamp, which makes all that was put before it the current state. A folder does it under its lock, and an object
/// store with conditional writes can be taught to.
///
/// Reading needs no lock. Calls block.
package protocol TreeStorage: Sendable {
    /// What stands under a name; nil when nothing does.
    func status(of file: TreePath.File) throws(ServerError) -> StoredFile?

    /// - Returns: nil when nothing stands there.
    /// - Throws: `file` with `tooLarge` when there are more than `limit` bytes.
    func open(_ file: TreePath.File, limit: Int) throws(ServerError) -> (any FileReader)?

    /// Everything that stands there, and nothing is opened.
    func listing() throws(ServerError) -> TreeListing

    /// Every role that stands there, the timestamp aside.
    func roles() throws(ServerError) -> [TreePath.File]

    /// Writes what is missing or different; what is there already is left alone.
    ///
    /// Afterwards: every one of these files is durable, and readers may meet it. When it throws, any of them may be.
    /// - Parameter progress: told of how many files are done.
    func put(_ writes: [TreeWrite], progress: (_ done: Int) -> Void) throws(ServerError) -> TreeChange

    /// Replaces the timestamp, if it still is the one that the writer has read.
    ///
    /// Afterwards: readers see the new state, durably. One that is there already is left alone.
    /// - Parameter expected: nil when there must be none yet.
    /// - Throws: `movedOn` when it is another; then nothing was changed.
    func exchange(_ timestamp: [UInt8], for expected: [UInt8]?) throws(ServerError) -> TreeChange

    /// Removes these files; one that is gone already is no error. Afterwards: durable.
    func remove(_ files: [TreePath.File]) throws(ServerError)

    /// Removes what a writer that was stopped has left half-written.
    ///
    /// - Returns: the size of each.
    func removeHalfWritten() throws(ServerError) -> [Int]
}

/// What stands under a name of the tree.
package struct StoredFile: Hashable, Sendable {
    package let size: Int
    /// When it was last written, by the clock of whoever keeps it.
    package let modified: UTCTime
    /// Another once the file was replaced.
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
        /// Copied, and compared with the digest while it is.
        case file(FilePath, SHA256Digest)
        /// The same, from a tree.
        case stored(TreePath.File, any TreeStorage, SHA256Digest)
    }

    package let file: TreePath.File
    package let source: Source

    package init(file: TreePath.File, source: Source) {
        self.file = file
        self.source = source
    }
}

/// What was done to a tree.
package struct TreeChange: Equatable, Sendable {
    /// Files written, and their bytes.
    package var files = 0
    package var bytes = 0
    /// Objects and targets that stood there with other bytes than their name says, by path below the app's folder.
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
    /// - Returns: nil when nothing stands there.
    package func read(_ file: TreePath.File, limit: Int) throws(ServerError) -> [UInt8]? {
        guard let reader = try open(file, limit: limit) else { return nil }
        var bytes: [UInt8] = []
        do throws(FileError) { while let chunk = try reader.next() { bytes += chunk } } catch { throw .file(error) }
        return bytes
    }

    /// - Returns: nil when nothing stands there.
    package func fingerprint(of file: TreePath.File) throws(ServerError) -> Fingerprint? {
        guard let reader = try open(file, limit: Limits.object) else { return nil }
        do throws(FileError) { return try reader.fingerprint() } catch { throw .file(error) }
    }

    package func put(_ writes: [TreeWrite]) throws(ServerError) -> TreeChange {
        try put(writes) { _ in }
    }
}
