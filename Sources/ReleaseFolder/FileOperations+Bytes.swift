package import PatchFormat
package import PatchStore
import PatchTrust
package import SystemPackage

extension FileOperations {
    /// Size and digests of a regular file, read in chunks.
    package func fingerprint(of path: FilePath, limit: Int) throws(FileError) -> Fingerprint {
        var digester = Digester()
        try readChunks(path, limit: limit) { digester.update($0) }
        return digester.finish()
    }

    /// Writes the bytes of one file to a new one that nobody writes again, in chunks.
    package func copy(_ source: FilePath, to destination: FilePath) throws(FileError) {
        let writer = try create(destination, permissions: .sealed)
        try readChunks(source, limit: Limits.object) { (chunk) throws(FileError) in try writer.append(chunk) }
        try writer.finish()
    }
}
