import PatchStore
import SystemPackage

/// Changes of a ``FaultyFiles`` disk that become durable together, or in part when the sync fails half way.
final class FaultyBatch: FileBatch {
    private let files: FaultyFiles
    private let directory: FilePath

    init(files: FaultyFiles, directory: FilePath) {
        self.files = files
        self.directory = directory
    }

    func sync() throws(FileError) {
        let directory = directory
        try files.withDisk { disk throws(FileError) in
            let stops = try disk.countChange(.sync, directory)
            // In no order that anybody may rely on: newer files first, so that names may come before what they lead to.
            let inodes = disk.nodes.keys.sorted(by: >)
            for inode in inodes.prefix(stops ? inodes.count / 2 : inodes.count) { disk.sync(inode) }
            if stops { throw .io(.sync, directory, .ioError) }
        }
    }
}
