package import PatchFormat
import PatchStore
import PatchCrypto
package import PatchTrust
import ReleaseFolder

/// A release offered for upload: its header, and its valid signatures.
package struct ReleaseOffer: Sendable {
    package let header: ReleaseHeader
    package let parsed: TargetsRole
    /// The role with only the signatures of the channel's keys, each once.
    package private(set) var role: Envelope
    /// The digest of the role's signed part.
    package let identity: SHA256Digest
    private let keys: RoleKeys

    private init(_ header: ReleaseHeader, _ role: Envelope, _ parsed: TargetsRole, by keys: RoleKeys) {
        self.header = header
        self.parsed = parsed
        self.keys = keys
        identity = role.identity
        self.role = Envelope(role: role.role, signing: role.signed)
        for signature in keys.countingSignatures(on: role) { self.role.add(signature) }
    }

    /// Adds other valid signatures on the same content.
    package mutating func merge(_ other: Envelope) {
        guard other.identity == identity else { return }
        let own = Set(role.signatures.map(\.keyID))
        for signature in keys.countingSignatures(on: other) where !own.contains(signature.keyID) { role.add(signature) }
    }
}

extension ReleaseOffer {
    /// Checks a release's header and role before its contents are uploaded: its app and channel, its base, and whether a key of its
    /// channel has signed it.
    ///
    /// Reading needs no lock; publishing checks all of it again.
    package init(of header: ReleaseHeader, _ role: Envelope, to repository: AppRepository) throws(ServerError) {
        let offered = SignedRelease(header: header, role: role, targets: [:], objects: [:])
        try offered.check(isOf: repository.app)
        let parsed: TargetsRole
        do throws(FormatError) {
            parsed = try TargetsRole(role, name: header.channel.text)
        } catch { throw .release(.format(error)) }
        let state = try PublishedState(of: repository)
        guard let delegation = state.targets.delegation(to: header.channel.text) else {
            throw .release(.trust(.notDelegated(role: header.channel.text)))
        }
        self.init(header, role, parsed, by: delegation.keys)
        guard !self.role.signatures.isEmpty else {
            let needed = delegation.keys.threshold
            throw .release(.trust(.threshold(role: header.channel.text, valid: 0, needed: needed)))
        }
        _ = try BaseComparison(offered, in: state, labels: try repository.labels(), of: repository.tree)
    }
}
