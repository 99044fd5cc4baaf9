import PatchFormat
import PatchStore
import SystemPackage

/// A new file for a secret that only its owner can read.
struct SecretOutput {
    private let path: FilePath
    private let writer: any FileWriter

    /// - Throws: A failure if the path exists. A secret is never overwritten.
    init(_ path: FilePath) throws(Failure) {
        self.path = path
        do throws(FileError) {
            writer = try DiskFiles().create(path, permissions: .privateFile)
        } catch .exists {
            throw Failure(
                "\(path) exists already; a secret is never replaced",
                hint: "name another file with --output, or remove that one",
                code: .conflict
            )
        } catch { throw Failure("\(error)", code: .disk) }
    }

    func write(_ text: String) throws(FileError) {
        try writer.append(Array((text + "\n").utf8))
        try writer.finish()
        try DiskFiles().syncDirectory(path.parent)
    }

    func discard() { try? DiskFiles().remove(path) }
}
