package import PatchStore
package import SystemPackage

extension FileOperations {
    /// Creates a new file, completely and durably, under a name that must not exist.
    ///
    /// After an error or a crash, either no file or the complete file exists.
    package func writeNew(
        _ bytes: [UInt8],
        to path: FilePath,
        permissions: FilePermissions
    ) throws(SigningError) {
        let folder = path.parent
        let sibling = folder.at(".\(path.name ?? "").new")
        do throws(FileError) {
            do throws(FileError) {
                try removeIfPresent(sibling)
                try write(bytes, to: sibling, permissions: permissions)
                // link(2) fails if the name exists; rename(2) would replace the file.
                try link(sibling, to: path)
            } catch {
                try? remove(sibling)
                throw error
            }
            do throws(FileError) {
                try remove(sibling)
                try syncDirectory(folder)
            } catch {
                try? remove(path)
                try? removeIfPresent(sibling)
                throw error
            }
        } catch {
            if case .exists = error { throw .exists(path) }
            throw .file(error)
        }
    }
}
