package import PatchFormat
package import PatchStore
import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// Writes a signed release.
///
/// It gets its final name after it has been read back and verified.
package struct ReleaseWriter: Sendable {
    private let folder: NewFolder

    package var output: FilePath { folder.path }

    /// - Throws: `.exists` or `.notReplaced` if `output` exists and may not be replaced.
    package init(_ output: FilePath, replacing: Replacement, files: any FileOperations) throws(SigningError) {
        folder = try NewFolder(output, .release, replacing: replacing, files: files)
    }

    /// Writes the release.
    ///
    /// Afterwards the complete release is at ``output``, durably; after an error the previous folder is unchanged. The written
    /// files are verified before they get their final name, because devices and servers receive exactly these.
    package func write(
        _ release: SignedRelease,
        rootOfTrust: ReleaseTrust,
        base: BaseRelease?,
        writing: ProgressStart = { _ in { _ in } },
        verifying: ProgressStart = { _ in { _ in } }
    ) throws(SigningError) -> VerifiedRelease {
        let linking = base?.folder.map { [$0] } ?? []
        let files = folder.files
        return try folder.made { (new) throws(SigningError) in
            try onDisk { () throws(FileError) in
                try release.write(to: new, files: files, linking: linking, progress: writing)
            }
            return try VerifiedRelease(folder: new, rootOfTrust: rootOfTrust, files: files, progress: verifying)
        }
    }
}
