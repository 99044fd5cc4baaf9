package import PatchFormat
package import PatchStore
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// The release from which a new one is made.
///
/// Everything in it is verified, and its quorum is complete. Its list is carried over and signed again, so it must not contain
/// anything unverified. Its expiry is not checked.
package struct BaseRelease: Sendable {
    /// The signatures that its role must have.
    package enum SignatureRule: Sendable {
        case complete
        case mayBeLost
    }

    /// Nil for a release that a server publishes.
    ///
    /// It is only in memory, without its objects.
    package let folder: FilePath?
    package let release: SignedRelease
    package let contents: ReleaseContents
    package let entryKeys: EntryKeys
    package let jspatchKeys: JSPatchKeys
    /// Its name in errors.
    let place: FilePath
    private let above: Int

    /// - Parameters:
    ///   - quorum: `mayBeLost` accepts a release with fewer signatures than its channel now requires, after a key was revoked.
    ///     All other checks apply.
    ///   - above: The version of another release that the new one must exceed. A server accepts such a release only when versions
    ///     restart, because it does not publish this base.
    package init(
        folder: FilePath,
        rootOfTrust: ReleaseTrust,
        quorum: SignatureRule = .complete,
        above: Int = 0,
        files: any FileOperations,
        progress: ProgressStart = { _ in { _ in } }
    ) throws(SigningError) {
        let verified = try VerifiedRelease(
            folder: folder,
            rootOfTrust: rootOfTrust,
            files: files,
            progress: progress
        )
        try self.init(verified, folder: folder, place: folder, quorum: quorum, above: above)
    }

    /// Uses a release that a server publishes.
    ///
    /// - Parameters:
    ///   - release: The fetched release, without objects.
    ///   - place: The name of the server in errors.
    package init(
        published release: SignedRelease,
        at place: FilePath,
        rootOfTrust: ReleaseTrust,
        quorum: SignatureRule = .complete,
        above: Int = 0,
        files: any FileOperations
    ) throws(SigningError) {
        let verified = try VerifiedRelease(release, named: place, rootOfTrust: rootOfTrust, files: files)
        try self.init(verified, folder: nil, place: place, quorum: quorum, above: above)
    }

    private init(
        _ verified: VerifiedRelease,
        folder: FilePath?,
        place: FilePath,
        quorum: SignatureRule,
        above: Int
    ) throws(SigningError) {
        guard quorum == .mayBeLost || verified.quorum.isComplete else {
            throw .incomplete(
                place,
                role: verified.role.name,
                valid: verified.quorum.valid,
                needed: verified.quorum.needed
            )
        }
        contents = ReleaseContents(verified)
        release = verified.release
        entryKeys = verified.role.entryKeys
        jspatchKeys = verified.jspatchKeys
        self.folder = folder
        self.place = place
        self.above = above
    }

    func checkUse(ofEntryKey signer: SigningKey) throws(SigningError) {
        guard !jspatchKeys.keys.values.contains(signer.publicKey) else {
            throw .keyInTwoUses(signer.file, also: "the base's JSPatch forms")
        }
    }

    func checkUse(ofJSPatchKey signer: SigningKey) throws(SigningError) {
        guard !entryKeys.keys.values.contains(signer.publicKey) else {
            throw .keyInTwoUses(signer.file, also: "the base's entries")
        }
    }

    /// The reference to this release in the next one's header.
    package var header: ReleaseHeader.Base {
        ReleaseHeader.Base(
            roleVersion: max(contents.roleVersion, above),
            sha256: release.role.identity
        )
    }
}

extension VerifiedRelease {
    /// Reads a release and verifies everything in it; its signatures are counted in ``quorum``.
    ///
    /// - Parameters:
    ///   - elsewhere: The location of an object that the release does not contain.
    ///   - leftOut: The default is `counted` for a release that was fetched without its objects.
    package init(
        folder: FilePath,
        rootOfTrust: ReleaseTrust,
        files: any FileOperations,
        elsewhere: @escaping (SHA256Digest) -> FilePath? = { _ in nil },
        leftOut: LeftOut? = nil,
        observe: CheckObserver? = nil,
        progress: ProgressStart = { _ in { _ in } }
    ) throws(SigningError) {
        let release = try SignedRelease(reading: folder, files: files)
        self = try VerifiedRelease(
            release,
            named: folder,
            rootOfTrust: rootOfTrust,
            files: files,
            elsewhere: elsewhere,
            leftOut: leftOut,
            observe: observe,
            progress: progress
        )
    }

    /// Verifies everything in a release; its signatures are counted in ``quorum``.
    ///
    /// - Parameter place: The name of the release in errors.
    init(
        _ release: SignedRelease,
        named place: FilePath,
        rootOfTrust: ReleaseTrust,
        files: any FileOperations,
        elsewhere: @escaping (SHA256Digest) -> FilePath? = { _ in nil },
        leftOut: LeftOut? = nil,
        observe: CheckObserver? = nil,
        progress: ProgressStart = { _ in { _ in } }
    ) throws(SigningError) {
        do throws(ReleaseError) {
            guard release.header.app == rootOfTrust.app else {
                throw .trust(
                    .foreign(
                        document: "release.json",
                        field: "app",
                        found: release.header.app.text,
                        expected: rootOfTrust.app.text
                    )
                )
            }
            guard let delegation = rootOfTrust.targets.delegation(to: release.header.channel.text) else {
                throw .trust(.notDelegated(role: release.header.channel.text))
            }
            self = try VerifiedRelease(
                release,
                delegation: delegation,
                files: files,
                elsewhere: { digest throws(FileError) in
                    guard let path = elsewhere(digest) else { return nil }
                    return try files.open(path, limit: Limits.object)
                },
                leftOut: leftOut ?? (release.header.leavesObjectsOut ? .counted : .refused),
                observe: observe,
                progress: progress
            )
        } catch { throw .release(place, error) }
    }
}

extension SignedRelease {
    /// Reads a release without verifying it.
    package init(reading folder: FilePath, files: any FileOperations) throws(SigningError) {
        do throws(ReleaseError) { self = try SignedRelease(folder: folder, files: files) } catch {
            throw .release(folder, error)
        }
    }

    /// Writes the role again after a signature was added.
    ///
    /// Afterwards the old role or the new one is stored, durably.
    package func saveRole(in folder: FilePath, files: any FileOperations) throws(SigningError) {
        try onDisk { () throws(FileError) in try writeRole(to: folder, files: files) }
    }
}
