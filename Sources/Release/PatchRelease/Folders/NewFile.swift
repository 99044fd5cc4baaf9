package import PatchStore
package import SystemPackage

extension FileOperations {
    /// A new file, whole and durable under its name, which nothing had before.
    ///
    /// After an error, and after a crash, nothing stands under the name or all of it does.
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
                // link(2) refuses a name that is taken; rename(2) would replace what has it.
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
