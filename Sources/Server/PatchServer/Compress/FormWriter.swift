import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// A file made of others, on its way to the disk.
struct FormWriter: ~Copyable {
    private let path: FilePath
    private let writer: any FileWriter
    private var digester = Digester()

    init(_ path: FilePath, _ files: any FileOperations) throws(ServerError) {
        self.path = path
        do throws(FileError) { writer = try files.create(path, permissions: .sharedFile) } catch { throw .file(error) }
    }

    mutating func append(_ bytes: [UInt8]) throws(ServerError) {
        guard !bytes.isEmpty else { return }
        digester.update(bytes)
        do throws(FileError) { try writer.append(bytes) } catch { throw .file(error) }
    }

    consuming func finish(as file: TreePath.File) throws(ServerError) -> CompressedForms.Form {
        let (path, writer, found) = (path, writer, digester.finish())
        do throws(FileError) { try writer.close() } catch { throw .file(error) }
        return CompressedForms.Form(file: file, path: path, digest: found.sha256, size: found.size)
    }
}
