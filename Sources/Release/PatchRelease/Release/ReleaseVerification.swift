package import PatchFormat
package import PatchStore
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// What an offline check of a release found: everything in it holds; its quorum may be incomplete.
package struct ReleaseVerification: Sendable {
    package let contents: ReleaseContents
    package let quorum: VerifiedRelease.SignatureTally
    package let counts: VerifiedRelease.Counts

    /// Checks root, targets, delegation, role, every entry, every asset and every object.
    ///
    /// - Throws: the first thing that does not hold, by name.
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

    /// Whether devices refuse it for its age alone; anything may be verified later than it was meant to be installed.
    package func isExpired(at time: UTCTime) -> Bool {
        contents.expires <= time
    }
}
