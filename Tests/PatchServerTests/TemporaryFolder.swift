import PatchFormat
import PatchStore
import PatchTrust
import SystemPackage

/// A folder on the real disk, removed with everything in it.
struct TemporaryFolder: ~Copyable {
    let path: FilePath

    init() throws {
        path = FilePath("/tmp/patchsrv-tests-\(Hex.text(SecureRandom.bytes(8)))")
        try DiskFiles().makeDirectory(path)
    }

    deinit {
        try? DiskFiles().removeTree(path)
    }
}

/// The same for a test that hands it around.
final class TemporaryFolderBox: Sendable {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    var path: FilePath { folder.path }
}
