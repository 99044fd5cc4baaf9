package import PatchStore
package import ReleaseFolder
package import SystemPackage

/// Writes downloaded releases into one new folder, after each was read back and verified.
package struct PulledFolder: Sendable {
    /// The currently published release.
    package static let base = "base"
    /// The release to sign.
    package static let release = "release"
    /// The source of a proposal's content: another channel's release, or an older one.
    package static let source = "source"

    private let folder: NewFolder

    package var output: FilePath { folder.path }

    /// - Throws: `.exists` or `.notReplaced` if `output` exists and may not be replaced.
    package init(_ output: FilePath, replacing: Replacement, files: any FileOperations) throws(SigningError) {
        folder = try NewFolder(output, .pulled, replacing: replacing, files: files)
    }

    /// Writes the releases.
    ///
    /// Afterwards every release is stored below ``output``, durably; after an error the previous folder is unchanged.
    package func write(
        _ releases: [(name: String, release: SignedRelease)],
        rootOfTrust: ReleaseTrust
    ) throws(SigningError) -> [VerifiedRelease] {
        let files = folder.files
        return try folder.made { (new) throws(SigningError) in
            try onDisk { () throws(FileError) in try files.makeDirectory(new) }
            var verified: [VerifiedRelease] = []
            for (name, release) in releases {
                let folder = new.at(name)
                try onDisk { () throws(FileError) in try release.write(to: folder, files: files) }
                verified.append(try VerifiedRelease(folder: folder, rootOfTrust: rootOfTrust, files: files))
            }
            return verified
        }
    }
}
