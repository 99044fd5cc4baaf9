package import SystemPackage

extension FileOperations {
    /// Replaces the file `name` so that a crash leaves either the old bytes or the new ones.
    ///
    /// Writes the sibling `.NAME.new`, renames it over `name` and syncs the directory that holds both. Afterwards: the
    /// new bytes are durable under this name.
    /// - Throws: the first ``FileError``; the sibling is removed if it can be. Once the rename is done, only the sync
    ///   can fail: then the new bytes stand, but a power cut may bring the old ones back.
    package func replace(
        _ name: String,
        in directory: FilePath,
        with bytes: [UInt8],
        permissions: FilePermissions = .privateFile
    ) throws(FileError) {
        let sibling = directory.at(".\(name).new")
        do throws(FileError) {
            // A crash may have left one.
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
