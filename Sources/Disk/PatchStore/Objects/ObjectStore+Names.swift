import Linux
package import PatchFormat
package import SystemPackage

/// What gives objects names and takes them.
extension ObjectStore {
    /// Makes the hard link `destination` to an object; one that is there already is fine.
    ///
    /// Afterwards: durable once the caller has synced the directory of `destination`, which must exist. The object has
    /// another ``FileIdentity``: record it after this, or link within ``carrying(_:of:over:)``. When the object is
    /// healed later, it is another file, and the link stays with the damaged one: link again.
    /// - Throws: `cannotLink` where the file system has no hard links or the file no room for one more; `exists` when
    ///   something else stands at `destination`.
    package func link(_ digest: SHA256Digest, to destination: FilePath) throws(FileError) {
        do throws(FileError) {
            try files.link(path(of: digest), to: destination)
        } catch .exists {
            guard let object = try files.identity(of: path(of: digest)),
                let there = try files.identity(of: destination), there.isSameFile(as: object)
            else { throw .exists(.link, destination) }
        }
    }

    /// Moves a damaged object to `…/quarantine/<sha256>`, over an older one.
    ///
    /// Afterwards: durable.
    package func quarantine(_ digest: SHA256Digest) throws(FileError) {
        let destination = quarantined.at(digest.hex)
        try files.makeDirectory(quarantined, permissions: .privateDirectory)
        // A power cut may have left one file with both names; rename(2) would leave both again.
        if let object = try files.status(of: path(of: digest)), object.linkCount > 1 {
            try files.removeTree(destination)
        }
        try files.rename(path(of: digest), to: destination)
        try files.syncDirectory(quarantined)
        try files.syncDirectory(directory(of: digest))
    }

    /// Removes an object that may be missing.
    ///
    /// Afterwards: it may come back after a power cut, whole.
    package func remove(_ digest: SHA256Digest) throws(FileError) {
        try files.removeIfPresent(path(of: digest))
    }

    /// Every digest under which something stands, in ascending order; names that are no digest are passed over.
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
