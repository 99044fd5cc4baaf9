package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

extension FileReader {
    /// Size and digests of what is left to read.
    package func fingerprint() throws(FileError) -> Fingerprint {
        var digester = Digester()
        while let chunk = try next() { digester.update(chunk) }
        return digester.finish()
    }
}

extension FileOperations {
    /// Size and digests of a regular file, read in chunks.
    package func fingerprint(of path: FilePath, limit: Int) throws(FileError) -> Fingerprint {
        try open(path, limit: limit).fingerprint()
    }

    /// Writes the bytes of one file to a new one that nobody writes again, in chunks.
    ///
    /// - Parameter inBatch: whether a ``FileBatch`` makes the copy durable later.
    package func copy(_ source: FilePath, to destination: FilePath, inBatch: Bool = false) throws(FileError) {
        let writer = try create(destination, permissions: .sealed)
        try readChunks(source, limit: Limits.object) { (chunk) throws(FileError) in try writer.append(chunk) }
        if inBatch { try writer.close() } else { try writer.finish() }
    }
}
