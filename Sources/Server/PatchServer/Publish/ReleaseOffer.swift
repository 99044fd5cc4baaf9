package import PatchFormat
import PatchStore
import PatchCrypto
package import PatchTrust
import ReleaseFolder

/// A release offered for upload: its header, and its valid signatures.
package struct ReleaseOffer: Sendable {
    package let header: ReleaseHeader
    package let parsed: TargetsRole
    /// With the signatures of the channel's keys alone, each once.
    package private(set) var role: Envelope
    /// Of the role's signed part.
    package let identity: SHA256Digest
    private let keys: RoleKeys

    fileprivate init(_ header: ReleaseHeader, _ role: Envelope, _ parsed: TargetsRole, by keys: RoleKeys) {
        self.header = header
        self.parsed = parsed
        self.keys = keys
        identity = role.identity
        self.role = Envelope(role: role.role, signing: role.signed)
        for signature in keys.countingSignatures(on: role) { self.role.add(signature) }
    }

    /// Adds the valid signatures that others made on the same content.
    package mutating func merge(_ other: Envelope) {
        guard other.identity == identity else { return }
        let own = Set(role.signatures.map(\.keyID))
        for signature in keys.countingSignatures(on: other) where !own.contains(signature.keyID) { role.add(signature) }
    }
}

extension AppRepository {
    /// Checks a release's header and role before any of its contents are taken: its app and channel, its base, and
    /// whether a key of its channel has signed it.
    ///
    /// Reading needs no lock; publishing checks all of it again.
    package func checkOffer(of header: ReleaseHeader, _ role: Envelope) throws(ServerError) -> ReleaseOffer {
        let offered = SignedRelease(header: header, role: role, targets: [:], objects: [:])
        try checkApp(of: offered)
        let parsed: TargetsRole
        do throws(FormatError) {
            parsed = try TargetsRole(role, name: header.channel.text)
        } catch { throw .release(.format(error)) }
        let state = try PublishedState(of: self)
        guard let delegation = state.targets.delegation(to: header.channel.text) else {
            throw .release(.trust(.notDelegated(role: header.channel.text)))
        }
        let offer = ReleaseOffer(header, role, parsed, by: delegation.keys)
        guard !offer.role.signatures.isEmpty else {
            let needed = delegation.keys.threshold
            throw .release(.trust(.threshold(role: header.channel.text, valid: 0, needed: needed)))
        }
        let labels = try labels()
        let restored = try tree.versionRecord().restored
        do throws(PublishConflict) {
            _ = try BaseComparison(offered, in: state, labels: labels, restored: restored)
        } catch {
            throw .conflict(error)
        }
        return offer
    }

    /// Whether the bytes of a target are published or drafted.
    package func hasTarget(_ path: TargetPath, _ sha256: SHA256Digest, in draft: Draft?) throws(ServerError) -> Bool {
        if let bytes = draft?.release.targets[path], SHA256Digest(of: bytes) == sha256 { return true }
        return try storage.status(of: .target(path, sha256)) != nil
    }

    /// The bytes of a target as published or drafted; nil when there are none.
    package func publishedTarget(_ path: TargetPath, _ sha256: SHA256Digest, in draft: Draft?) throws(ServerError)
        -> [UInt8]?
    {
        if let bytes = draft?.release.targets[path], SHA256Digest(of: bytes) == sha256 { return bytes }
        let file = TreePath.File.target(path, sha256)
        return try storage.read(file, limit: Limits.manifest)
    }

    /// Whether the tree has a version of a channel's role.
    package func hasRole(of channel: ChannelName, version: Int) throws(ServerError) -> Bool {
        try storage.status(of: .role(channel.text, version: version)) != nil
    }

    /// The newest versions of a channel's role below `version` that the published tree has, newest first.
    ///
    /// - Parameter depth: how many versions back to look.
    package func roles(
        of channel: ChannelName,
        below version: Int,
        limit: Int,
        depth: Int = 1_000
    ) throws(ServerError) -> [Int] {
        var found: [Int] = []
        for older in stride(from: version - 1, to: max(0, version - 1 - depth), by: -1) where found.count < limit {
            if try hasRole(of: channel, version: older) { found.append(older) }
        }
        return found
    }

    /// Whether the published tree has an object.
    package func hasObject(_ sha256: SHA256Digest) throws(ServerError) -> Bool {
        try storage.status(of: .object(sha256)) != nil
    }

    /// The draft of one content, if it is kept.
    package func draft(of channel: ChannelName, version: Int, identity: SHA256Digest) throws(ServerError) -> Draft? {
        guard let draft = try tree.draft(of: channel, version: version), draft.identity == identity else { return nil }
        return draft
    }
}
