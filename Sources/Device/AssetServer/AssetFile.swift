package import Linux
import HTTPFiles
package import PatchFormat
package import SystemPackage

/// The files of a bundle while it is served.
///
/// Each is examined on its first request.
package protocol AssetFiles: Sendable {
    /// Returns the file as it was verified, without reading it. Nil if it was replaced or is missing.
    func recorded(_ row: BundleIndex.Row) -> AssetFile?

    /// Verifies the digest again, and returns the file. Nil if it is missing or altered.
    ///
    /// Blocks until the file is read.
    func examined(_ row: BundleIndex.Row) -> AssetFile?

    /// Reads the file and verifies its digest. Nil if it is missing or altered.
    ///
    /// Blocks until the file is read.
    func contents(_ row: BundleIndex.Row) -> [UInt8]?
}

/// The location of an intact asset.
package struct AssetFile: Equatable, Sendable {
    package let path: FilePath
    /// The folder below which symbolic links are not followed.
    package let root: FilePath
    /// The file's identity when its digest was verified.
    package let identity: FileIdentity

    package init(path: FilePath, root: FilePath, identity: FileIdentity) {
        self.path = path
        self.root = root
        self.identity = identity
    }
}
