import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder

/// Verifies a release like ``PublishRelease``, and changes nothing.
///
/// It needs no lock, so that other publishes do not wait for a release that takes long to read and may lack a quorum.
package struct VerifyRelease: Sendable {
    /// A release and the published state that it is compared with.
    struct Facts {
        let labels: PublishedLabels
        let comparison: BaseComparison
        let delegation: Delegation
        /// The release with its own valid signatures, and those of a draft of the same content.
        let release: SignedRelease
    }

    private let offered: SignedRelease
    private let repository: AppRepository

    package init(_ offered: SignedRelease, in repository: AppRepository) {
        (self.offered, self.repository) = (offered, repository)
    }

    package func run() throws(ServerError) -> VerifiedRelease {
        try verify(facts(in: try PublishedState(of: repository)))
    }

    func facts(in state: PublishedState) throws(ServerError) -> Facts {
        let labels = try repository.labels()
        let comparison = try BaseComparison(offered, in: state, labels: labels, of: repository.tree)
        let channel = offered.header.channel
        guard let delegation = state.targets.delegation(to: channel.text) else {
            throw .release(.trust(.notDelegated(role: channel.text)))
        }
        return Facts(
            labels: labels,
            comparison: comparison,
            delegation: delegation,
            release: try merged(with: comparison, delegation.keys)
        )
    }

    func verify(_ facts: Facts) throws(ServerError) -> VerifiedRelease {
        try Self.verified(facts.release, by: facts.delegation, in: repository)
    }

    /// Verifies a release, without repeating the checks of an earlier result that are still valid.
    func verify(_ facts: Facts, knowing earlier: VerifiedRelease?) throws(ServerError) -> VerifiedRelease {
        if let earlier, let still = try again(earlier, facts) { still } else { try verify(facts) }
    }

    /// The earlier result with the present signatures, or nil if keys or content differ, or an object of the tree was collected.
    private func again(_ earlier: VerifiedRelease, _ facts: Facts) throws(ServerError) -> VerifiedRelease? {
        guard let known = earlier.counting(facts.release, by: facts.delegation) else { return nil }
        for object in known.contents where facts.release.objects[object] == nil {
            guard try repository.storage.status(of: .object(object)) != nil else { return nil }
        }
        return known
    }

    /// - Parameter delegation: that of the release's channel.
    static func verified(
        _ release: SignedRelease,
        by delegation: Delegation,
        in repository: AppRepository
    ) throws(ServerError) -> VerifiedRelease {
        try repository.refuseTestingKeys(of: release.header.channel.text, delegation.keys)
        let (storage, progress) = (repository.storage, repository.progress)
        let verified: VerifiedRelease
        do throws(ReleaseError) {
            verified = try VerifiedRelease(
                release,
                delegation: delegation,
                files: repository.files,
                elsewhere: { digest in try? storage.open(.object(digest), limit: Limits.object) },
                progress: { progress(.verifying, $0) }
            )
        } catch { throw .release(error) }
        try repository.refuseTestingKeys(verified.role.entryKeys, of: "entry key of \(verified.role.name)")
        return verified
    }

    private func merged(with comparison: BaseComparison, _ keys: RoleKeys) throws(ServerError) -> SignedRelease {
        var signatures = keys.countingSignatures(on: offered.role)
        let unsigned = Envelope(role: offered.role.role, signing: offered.role.signed)
        var release = SignedRelease(
            header: offered.header,
            role: unsigned,
            targets: offered.targets,
            objects: offered.objects
        )
        if comparison == .next,
            let draft = try repository.tree.draft(of: offered.header.channel, version: offered.header.roleVersion)
        {
            let identity = unsigned.identity
            if draft.identity == identity {
                signatures = keys.countingSignatures(on: draft.release.role) + signatures
            } else if signatures.count < keys.threshold {
                throw .conflict(
                    .otherDraft(channel: draft.channel, version: draft.version, kept: draft.identity, offered: identity)
                )
            }
        }
        release.merge(signatures)
        return release
    }
}

extension SignedRelease {
    func check(isOf app: AppID) throws(ServerError) {
        guard header.app == app else {
            let found = header.app.text
            throw .release(.trust(.foreign(document: "release.json", field: "app", found: found, expected: app.text)))
        }
    }
}

extension BaseComparison {
    /// Compares a release's app and base with the published ones.
    init(
        _ release: SignedRelease,
        in state: PublishedState,
        labels: PublishedLabels,
        of tree: AppTree
    ) throws(ServerError) {
        try release.check(isOf: tree.app)
        let restored = try tree.versionRecord().restored
        do throws(PublishConflict) {
            self = try BaseComparison(release, in: state, labels: labels, restored: restored)
        } catch {
            throw .conflict(error)
        }
    }
}
