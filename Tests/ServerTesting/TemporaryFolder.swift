import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// A folder on the real disk, removed with everything in it.
package struct TemporaryFolder: ~Copyable {
    package let path: FilePath

    package init() throws {
        path = FilePath("/tmp/patchsrv-tests-\(Hex.text(SecureRandom.bytes(8)))")
        try DiskFiles().makeDirectory(path)
    }

    deinit {
        try? DiskFiles().removeTree(path)
    }
}

/// The same for a test that hands it around.
package final class TemporaryFolderBox: Sendable {
    private let folder: TemporaryFolder

    package init() throws {
        folder = try TemporaryFolder()
    }

    package var path: FilePath { folder.path }
}
