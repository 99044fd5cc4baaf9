package import PatchFormat
package import PatchStore
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// The result of an offline verification of a release.
///
/// All its content is valid; its quorum may be incomplete.
package struct ReleaseVerification: Sendable {
    package let contents: ReleaseContents
    package let quorum: VerifiedRelease.SignatureTally
    package let counts: VerifiedRelease.Counts

    /// Verifies root, targets, delegation, role, all entries, all assets and all objects.
    ///
    /// - Throws: the first error, with the name of the invalid part.
    package init(
        _ folder: FilePath,
        rootOfTrust: ReleaseTrust,
        files: any FileOperations,
        observe: CheckObserver? = nil,
        progress: ProgressStart = { _ in { _ in } }
    ) throws(SigningError) {
        let verified = try VerifiedRelease(
            folder: folder,
            rootOfTrust: rootOfTrust,
            files: files,
            observe: observe,
            progress: progress
        )
        contents = ReleaseContents(verified)
        quorum = verified.quorum
        counts = verified.counts
    }

    /// Whether the release has expired.
    ///
    /// Expiry does not fail the verification, because older releases may be verified too.
    package func isExpired(at time: UTCTime) -> Bool {
        contents.expires <= time
    }
}
