import NIOHTTP1
package import PatchFormat
import PatchCrypto
import PatchTrust
package import ReleaseFolder

/// The published state of one app on a server, verified from the caller's root of trust (TUF 5.3 to 5.6).
///
/// Snapshot and timestamp must not have expired. Roles that people sign may have expired, because they are downloaded to be
/// inspected and signed again. As on a device, no role may be older than in the last known state of the server.
package struct PublishedApp: Sendable {
    package let app: AppID
    private let tree: PublishedTree
    private let repository: TrustedRepository
    /// The state to store; see ``SeenFile``.
    package let seen: SeenMetadata

    /// - Parameters:
    ///   - root: The bytes of the trusted `root.json`.
    ///   - known: The last known state of the server, if any.
    ///   - place: The location from which the client reads the tree.
    /// - Throws: `trust` with `rolledBack` or `droppedFromSnapshot` if the state is older than the known one.
    package init(
        _ app: AppID,
        root: [UInt8],
        at now: UTCTime,
        knowing known: SeenMetadata? = nil,
        from client: ServiceClient,
        at place: PublishedTree.Place = .service
    ) async throws(ServiceError) {
        let tree = PublishedTree(app: app, client: client, place: place)
        (self.app, self.tree) = (app, tree)
        let anchor = try mappingErrors { () throws(TrustError) in try TrustedRoot(anchor: root) }
        let root = IdentityQuestion.KnownRoot(version: anchor.version, sha256: anchor.envelope.identity)
        if place == .service {
            try await client.trying { () async throws(ServiceError) in try await client.identify(app, root: root) }
        }
        let known = known.flatMap { $0.concerns(anchor) ? $0 : nil }
        var taken: [String: [UInt8]] = [:]
        repository = try await tree.walked(
            MetadataWalk(from: anchor, .onlineRoles(at: now), keepsTargetsFloor: true),
            knowing: known,
            taken: &taken
        )
        let newest = repository.root
        // A server that withholds a newer root keeps using keys that this root revokes.
        if let known, newest.version < known.root {
            throw .trust(.rolledBack(role: "root", offered: newest.version, trusted: known.root))
        }
        func bytes(_ role: String) -> [UInt8] { taken[role] ?? known?.bytes(of: role) ?? [] }
        let keys = [anchor.role, newest.role].flatMap { $0.keys(of: "root").keys.keys }
        seen = SeenMetadata(
            root: newest.version,
            rootKeys: Set(keys).union(known?.rootKeys ?? []),
            timestamp: repository.timestamp.bytes,
            snapshot: bytes("snapshot"),
            targets: bytes("targets")
        )
    }

    /// The channel's current release without its objects; nil before the first one.
    package func release(of channel: ChannelName) async throws(ServiceError) -> SignedRelease? {
        guard repository.snapshot.files[ExactString(channel.text)] != nil else { return nil }
        let walked = try await tree.walked(MetadataWalk(in: repository, to: channel.text, by: "targets"))
        guard let role = walked.role(channel.text), let envelope = walked.envelope(of: channel.text) else {
            preconditionFailure("a walk ends at its role")
        }
        return try await release(of: channel, role, envelope)
    }

    /// An older release of the channel without its objects, verified with the channel's present keys.
    ///
    /// These keys also signed other releases, and possibly some that were never published. Only the version shows that the
    /// service sent the requested one.
    ///
    /// - Parameter field: The member of the service's answer that named the version.
    /// - Throws: `malformed` if the version is not below the current release's, because the service's proposal names it;
    ///   `noRelease` if there is no current release.
    package func release(
        of channel: ChannelName,
        version: Int,
        namedBy field: String = "change.to"
    ) async throws(ServiceError) -> SignedRelease {
        guard let keys = repository.targets.delegation(to: channel.text)?.keys else {
            throw .trust(
                repository.targets.hasRetired(channel.text)
                    ? .retired(channel: channel.text) : .notDelegated(role: channel.text)
            )
        }
        guard let current = repository.snapshot.files[ExactString(channel.text)]?.version else {
            throw .noRelease(channel)
        }
        guard version < current else {
            throw .malformed(FormatError("answer", field: field, rule: AnswerRule.older(than: current)))
        }
        let envelope = try await tree.envelope(channel, version: version)
        try mappingErrors { () throws(TrustError) in try keys.check(envelope, role: channel.text) }
        let role: TargetsRole
        do throws(FormatError) { role = try TargetsRole(envelope, name: channel.text) } catch {
            throw .trust(.malformed(error))
        }
        try mappingErrors { () throws(TrustError) in try role.header.check(for: app, role: channel.text) }
        let offered = role.header.version
        guard offered == version else {
            throw .trust(.wrongVersion(role: channel.text, offered: offered, expected: version))
        }
        return try await release(of: channel, role, envelope)
    }

    private func release(
        of channel: ChannelName,
        _ role: TargetsRole,
        _ envelope: Envelope
    ) async throws(ServiceError) -> SignedRelease {
        var targets: [TargetPath: [UInt8]] = [:]
        for (name, file) in role.targets.sorted(by: { $0.key < $1.key }) {
            guard let path = TargetPath(name.text) else {
                throw .trust(.malformed(FormatError(channel.text, field: "targets.\(name)", rule: TargetPath.rule)))
            }
            targets[path] = try await tree.target(path, file)
        }
        let header = ReleaseHeader(
            app: app,
            channel: channel,
            base: try await base(of: channel, role.header.version),
            leavesObjectsOut: true
        )
        return SignedRelease(header: header, role: envelope, targets: targets, objects: [:])
    }

    /// The release's base, if the tree still has it.
    ///
    /// It is only displayed.
    private func base(of channel: ChannelName, _ version: Int) async throws(ServiceError) -> ReleaseHeader.Base? {
        guard version > 1 else { return nil }
        do throws(ServiceError) {
            let before = try await tree.envelope(channel, version: version - 1)
            return ReleaseHeader.Base(roleVersion: version - 1, sha256: before.identity)
        } catch .problem(let problem) where tree.isAbsent(problem) {
            return ReleaseHeader.Base(roleVersion: version - 1, sha256: .unavailable)
        }
    }
}

extension ServiceClient {
    /// An object of the published tree, by its digest in a signed list.
    package func object(_ digest: SHA256Digest, of app: AppID) async throws(ServiceError) -> [UInt8] {
        let path = URLLayout.object(digest)
        let bytes = try await PublishedTree(app: app, client: self).bytes(path, limit: Limits.loaderPackage)
        guard SHA256Digest(of: bytes) == digest else {
            throw .malformed(FormatError("answer", field: path, rule: AnswerRule.object))
        }
        return bytes
    }
}

extension SHA256Digest {
    /// Replaces a displayed digest whose bytes are no longer available.
    fileprivate static var unavailable: SHA256Digest {
        guard let digest = SHA256Digest(hex: String(repeating: "0", count: 64)) else {
            preconditionFailure("64 digits are a digest")
        }
        return digest
    }
}
