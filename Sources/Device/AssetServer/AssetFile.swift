package import Linux
import HTTPFiles
package import PatchFormat
package import SystemPackage

/// The files of a bundle while it is served: each is looked at when somebody asks for it.
package protocol AssetFiles: Sendable {
    /// The file as it was verified, known without reading it; nil when another one lies there, or none.
    func recorded(_ row: BundleIndex.Row) -> AssetFile?

    /// The file once its digest was compared again; nil when it is missing or altered.
    ///
    /// Blocks for as long as it takes to read the file.
    func examined(_ row: BundleIndex.Row) -> AssetFile?

    /// The bytes of the file, compared with its digest while they are read; nil when it is missing or altered.
    ///
    /// Blocks for as long as it takes to read the file.
    func contents(_ row: BundleIndex.Row) -> [UInt8]?
}

/// Where an asset lies, intact.
package struct AssetFile: Equatable, Sendable {
    package let path: FilePath
    /// Below which no symbolic link is followed.
    package let root: FilePath
    /// What it was when its digest was compared.
    package let identity: FileIdentity

    package init(path: FilePath, root: FilePath, identity: FileIdentity) {
        self.path = path
        self.root = root
        self.identity = identity
    }
}
