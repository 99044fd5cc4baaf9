package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

extension FileReader {
    /// The size and digests of the remaining bytes.
    package func fingerprint() throws(FileError) -> Fingerprint {
        var digester = Digester()
        while let chunk = try next() { digester.update(chunk) }
        return digester.finish()
    }
}

extension FileOperations {
    /// The size and digests of a regular file, read in chunks.
    package func fingerprint(of path: FilePath, limit: Int) throws(FileError) -> Fingerprint {
        try open(path, limit: limit).fingerprint()
    }

    /// Copies a file in chunks to a new file that never changes afterwards.
    ///
    /// - Parameter inBatch: Whether a ``FileBatch`` makes the copy durable later.
    package func copy(_ source: FilePath, to destination: FilePath, inBatch: Bool = false) throws(FileError) {
        let writer = try create(destination, permissions: .sealed)
        try readChunks(source, limit: Limits.object) { (chunk) throws(FileError) in try writer.append(chunk) }
        if inBatch { try writer.close() } else { try writer.finish() }
    }
}
