package import SystemPackage

extension FileOperations {
    /// Replaces the file `name` so that a crash leaves either the old bytes or the new ones.
    ///
    /// Writes the sibling `.NAME.new`, renames it to `name` and syncs their directory. Afterwards the new bytes are durable under
    /// this name.
    /// - Throws: the first ``FileError``; the sibling is removed if possible. After the rename, only the sync can fail: then the
    ///   new bytes are stored, but a power failure may restore the old ones.
    package func replace(
        _ name: String,
        in directory: FilePath,
        with bytes: [UInt8],
        permissions: FilePermissions = .privateFile
    ) throws(FileError) {
        let sibling = directory.at(".\(name).new")
        do throws(FileError) {
            // A crash may have left a sibling.
            try removeIfPresent(sibling)
            try write(bytes, to: sibling, permissions: permissions)
            try rename(sibling, to: directory.at(name))
        } catch {
            try? remove(sibling)
            throw error
        }
        try syncDirectory(directory)
    }
}
