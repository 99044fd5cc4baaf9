package import SystemPackage

/// Reads files of the system, outside of a store.
extension DiskFiles {
    /// Reads a file that the system's administrator owns.
    ///
    /// Its name may be a symbolic link, such as `/etc/localtime`. All files in a store are read by ``read(_:limit:)``, which
    /// follows no link.
    package func readOfSystem(_ path: FilePath, limit: Int) throws(FileError) -> [UInt8] {
        let file: OwnedDescriptor
        do {
            file = OwnedDescriptor(try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking]))
        } catch { throw Self.fileError(error, .read, path) }
        guard try Self.regularFile(file, path, during: .read) <= limit else { throw .tooLarge(path, limit: limit) }
        var bytes: [UInt8] = []
        while true {
            let part = try Self.read(file, upTo: limit + 1 - bytes.count, path)
            guard !part.isEmpty else { return bytes }
            bytes += part
            // The file may grow while it is read.
            guard bytes.count <= limit else { throw .tooLarge(path, limit: limit) }
        }
    }
}
