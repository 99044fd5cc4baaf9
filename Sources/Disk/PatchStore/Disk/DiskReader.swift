import SystemPackage

/// Reads an open file on the real disk to its end.
final class DiskReader: FileReader {
    private static let chunkBytes = 262_144

    private let file: OwnedDescriptor
    private let path: FilePath
    private let limit: Int
    private let chunkBytes: Int
    /// The size at opening.
    private let size: Int
    private var total = 0

    init(_ path: FilePath, limit: Int) throws(FileError) {
        // Without O_NONBLOCK, opening a pipe would wait for its writer.
        let file = try DiskFiles.open(path, .readOnly, [.nonBlocking], during: .read)
        let size = try DiskFiles.regularFile(file, path, during: .read)
        guard size <= limit else { throw .tooLarge(path, limit: limit) }
        self.file = consume file
        self.path = path
        self.limit = limit
        // One byte more than the file's size: a short read then shows the end.
        (self.size, chunkBytes) = (size, min(size + 1, Self.chunkBytes))
    }

    func next() throws(FileError) -> [UInt8]? {
        let chunk = try DiskFiles.read(file, upTo: chunkBytes, path)
        total += chunk.count
        guard total <= limit else { throw .tooLarge(path, limit: limit) }
        return chunk.isEmpty ? nil : chunk
    }

    /// Reads everything into memory of the file's size.
    ///
    /// Collecting pieces would copy them into growing arrays.
    func all() throws(FileError) -> [UInt8] {
        var bytes = try DiskFiles.read(file, upTo: size + 1, path)
        while !bytes.isEmpty, bytes.count <= limit, case let more = try DiskFiles.read(file, upTo: chunkBytes, path),
            !more.isEmpty
        { bytes += more }
        guard bytes.count <= limit else { throw .tooLarge(path, limit: limit) }
        return bytes
    }
}
