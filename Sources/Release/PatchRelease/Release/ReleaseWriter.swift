package import PatchFormat
package import PatchStore
import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// Writes a signed release under its name once it has been read back and verified.
package struct ReleaseWriter: Sendable {
    private let folder: NewFolder

    package var output: FilePath { folder.path }

    /// - Throws: `.exists` or `.notReplaced` when something stands at `output` and may not be replaced.
    package init(_ output: FilePath, replacing: Replacement, files: any FileOperations) throws(SigningError) {
        folder = try NewFolder(output, .release, replacing: replacing, files: files)
    }

    /// Afterwards: the whole release stands at ``output``, durably; after an error what stood there before.
    ///
    /// A device or server will judge what was written, so exactly that is verified, before it gets its name.
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
