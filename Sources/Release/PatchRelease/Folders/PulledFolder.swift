package import PatchStore
package import ReleaseFolder
package import SystemPackage

/// Writes releases that were fetched side by side into one new folder, once each was read back and verified.
package struct PulledFolder: Sendable {
    /// What is published now.
    package static let base = "base"
    /// What is to be signed.
    package static let release = "release"
    /// What a proposal takes its content from: another channel's release, or an older one.
    package static let source = "source"

    private let folder: NewFolder

    package var output: FilePath { folder.path }

    /// - Throws: `.exists` or `.notReplaced` when something stands at `output` and may not be replaced.
    package init(_ output: FilePath, replacing: Replacement, files: any FileOperations) throws(SigningError) {
        folder = try NewFolder(output, .pulled, replacing: replacing, files: files)
    }

    /// Afterwards: every release stands below ``output``, durably; after an error what stood there before.
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
