package import PatchFormat
package import PatchStore
package import PatchTrust

/// A signed release, verified except for the count of its role's signatures: the role's form, every target's digest,
/// every entry's and asset's digests and RSA signature, every object's bytes.
package struct VerifiedRelease: Sendable {
    /// How many of the needed signatures the role has.
    package struct SignatureTally: Equatable, Sendable {
        package let valid: Int
        package let needed: Int
        package var isComplete: Bool { valid >= needed }

        package init(valid: Int, needed: Int) {
            self.valid = valid
            self.needed = needed
        }
    }

    /// The rule for an object whose bytes are not at hand.
    package enum LeftOut: Sendable {
        case refused
        /// It is counted: only its entry's digests are known.
        case counted
    }

    /// How much was checked.
    package struct Counts: Equatable, Sendable {
        package var entries = 0
        package var assets = 0
        package var objects = 0
        /// Objects that were left out, and not checked.
        package var unseen = 0
        /// RSA signatures of entries and assets that verified.
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
    ///   - delegation: the top targets role's delegation to the channel.
    ///   - elsewhere: bytes of an object that the release leaves out: the published tree's copy.
    ///   - leftOut: `counted` to check a release without its objects; a server never does.
    ///   - observe: called with each check that holds, before the first one that fails.
    ///   - progress: called with the number of the release's objects checked.
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

    /// The same content with other signatures on its role; nil when the content is other, or the channel's keys have
    /// changed: then everything must be checked again.
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

    /// Of every script, asset and package.
    package var contents: Set<SHA256Digest> {
        var contents = Set(list.list.gatewayPackages.map(\.package.fingerprint.sha256))
        for entry in list.entries where entry.kind == .script { contents.insert(entry.fingerprint.sha256) }
        for manifest in manifests.values { contents.formUnion(manifest.manifest.assets.map(\.fingerprint.sha256)) }
        return contents
    }
}
