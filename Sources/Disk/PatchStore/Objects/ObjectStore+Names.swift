import Linux
package import PatchFormat
package import SystemPackage

/// Operations that add and remove names of objects.
extension ObjectStore {
    /// Makes the hard link `destination` to an object.
    ///
    /// An existing link to it is kept. Afterwards it is durable once the caller has synced the directory of `destination`, which
    /// must exist. The object has another ``FileIdentity``: it must be recorded after this, or linked within
    /// ``carrying(_:of:over:)``. If the object is repaired later, it is another file, and the link must be made again, because it
    /// refers to the damaged one.
    /// - Throws: `cannotLink` if the file system has no hard links or the file has too many; `exists` if `destination` is another
    ///   file.
    package func link(_ digest: SHA256Digest, to destination: FilePath) throws(FileError) {
        do throws(FileError) {
            try files.link(path(of: digest), to: destination)
        } catch .exists {
            guard let object = try files.identity(of: path(of: digest)),
                let there = try files.identity(of: destination), there.isSameFile(as: object)
            else { throw .exists(.link, destination) }
        }
    }

    /// Moves a damaged object to `…/quarantine/<sha256>`, replacing an older one.
    ///
    /// Afterwards the move is durable.
    package func quarantine(_ digest: SHA256Digest) throws(FileError) {
        let destination = quarantined.at(digest.hex)
        try files.makeDirectory(quarantined, permissions: .privateDirectory)
        // After a power failure one file may have both names; rename(2) would keep both.
        if let object = try files.status(of: path(of: digest)), object.linkCount > 1 {
            try files.removeTree(destination)
        }
        try files.rename(path(of: digest), to: destination)
        try files.syncDirectory(quarantined)
        try files.syncDirectory(directory(of: digest))
    }

    /// Removes an object, if it exists.
    ///
    /// It may reappear after a power failure, complete.
    package func remove(_ digest: SHA256Digest) throws(FileError) {
        try files.removeIfPresent(path(of: digest))
    }

    /// The digests of all objects, in ascending order.
    ///
    /// Names that are not digests are ignored.
    package func all() throws(FileError) -> [SHA256Digest] {
        var digests: [SHA256Digest] = []
        for prefix in try files.list(root) where Hex.bytes(prefix)?.count == 1 {
            digests += try files.list(root.at(prefix)).compactMap { name in
                name.hasPrefix(prefix) ? SHA256Digest(hex: name) : nil
            }
        }
        return digests
    }
}
