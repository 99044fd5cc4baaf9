import CLinux
import SystemPackage

/// Changes of one real file system.
///
/// Its directory is opened before the first change, because syncfs(2) reports only the medium's errors since then.
final class DiskBatch: FileBatch {
    private let file: OwnedDescriptor
    private let directory: FilePath

    init(on directory: FilePath) throws(FileError) {
        file = try DiskFiles.openDirectory(directory, during: .sync)
        self.directory = directory
    }

    func sync() throws(FileError) {
        let descriptor = file.descriptor.rawValue
        try DiskFiles.retrying(.sync, directory) { syncfs(descriptor) }
    }
}
