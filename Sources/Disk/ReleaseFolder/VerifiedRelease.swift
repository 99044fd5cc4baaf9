package import PatchFormat
package import PatchStore
package import PatchTrust

/// A signed release, verified except for the number of its role's signatures.
///
/// The checks cover the role's form, every target's digest, the digests and RSA signature of every entry and asset, and every
/// object's bytes.
package struct VerifiedRelease: Sendable {
    /// The number of the role's signatures, and the number needed.
    package struct SignatureTally: Equatable, Sendable {
        package let valid: Int
        package let needed: Int
        package var isComplete: Bool { valid >= needed }

        package init(valid: Int, needed: Int) {
            self.valid = valid
            self.needed = needed
        }
    }

    /// The treatment of an object whose bytes are not available.
    package enum LeftOut: Sendable {
        case refused
        /// The object is counted. Only its entry's digests are known.
        case counted
    }

    /// The amounts of checked data.
    package struct Counts: Equatable, Sendable {
        package var entries = 0
        package var assets = 0
        package var objects = 0
        /// Objects that were left out and not checked.
        package var unseen = 0
        /// Valid RSA signatures of entries and assets.
        package var signatures = 0
    }

    package private(set) var release: SignedRelease
    package let role: TargetsRole
    package let jspatchKeys: JSPatchKeys
    package let list: VerifiedList
    package let manifests: [Label: VerifiedManifest]
    package private(set) var quorum: SignatureTally
    package let counts: Counts
    private let delegation: Delegation

    /// - Parameters:
    ///   - delegation: The top targets role's delegation to the channel.
    ///   - elsewhere: Opens an object that the release leaves out, from the published tree.
    ///   - leftOut: `counted` to check a release without its objects. A server never uses it.
    ///   - observe: Called with each successful check, before the first failing one.
    ///   - progress: Called with the number of checked objects.
    package init(
        _ release: SignedRelease,
        delegation: Delegation,
        files: any FileOperations,
        elsewhere: @escaping (SHA256Digest) throws(FileError) -> (any FileReader)? = { _ throws(FileError) in nil },
        leftOut: LeftOut = .refused,
        observe: CheckObserver? = nil,
        progress: ProgressStart = { _ in { _ in } }
    ) throws(ReleaseError) {
        let objects = ObjectCheck(release, files, elsewhere, leftOut, observe, progress(release.objects.count))
        var check = try ReleaseCheck(release, delegation, objects, observe)
        try check.versionFollowsItsBase()
        try check.targetsAreDelegated()
        list = try check.listIsSigned()
        try check.jspatchFormsAreSigned(in: list)
        manifests = try check.contentsAreSigned(by: list)
        try check.roleHoldsNoMore()
        quorum = check.quorum()
        (self.release, self.delegation, role, jspatchKeys) = (release, delegation, check.role, check.jspatchKeys)
        counts = check.counts
    }

    /// The same content with other signatures on its role.
    ///
    /// Nil if the content differs or the channel's keys have changed: then everything must be verified again.
    package func counting(_ other: SignedRelease, by now: Delegation) -> VerifiedRelease? {
        guard other.header == release.header, other.role.identity == release.role.identity,
            other.targets == release.targets, other.objects == release.objects, now.keys == delegation.keys,
            now.scope == delegation.scope
        else { return nil }
        var counted = self
        counted.release = other
        counted.quorum = SignatureTally(valid: now.keys.validSignatures(on: other.role), needed: now.keys.threshold)
        return counted
    }

    /// The digests of every script, asset and package.
    package var contents: Set<SHA256Digest> {
        var contents = Set(list.list.gatewayPackages.map(\.package.fingerprint.sha256))
        for entry in list.entries where entry.kind == .script { contents.insert(entry.fingerprint.sha256) }
        for manifest in manifests.values { contents.formUnion(manifest.manifest.assets.map(\.fingerprint.sha256)) }
        return contents
    }
}
