import NIOHTTP1
package import PatchFormat
import PatchTrust
package import ReleaseFolder

/// What a server publishes of one app now, verified from a root of trust that is at hand (TUF 5.3 to 5.6).
///
/// Snapshot and timestamp must not have ended. What people sign may have: it is fetched to be looked at, and signed again.
package struct PublishedApp: Sendable {
    package let app: AppID
    private let client: ServiceClient
    private let trusted: TrustedMetadata

    /// - Parameter root: the bytes of `root.json`, which the caller trusts.
    package init(_ app: AppID, root: [UInt8], at now: UTCTime, from client: ServiceClient) async throws(ServiceError) {
        (self.app, self.client) = (app, client)
        let tree = Tree(app: app, client: client)
        var trusted = try judged { () throws(TrustError) in
            try TrustedMetadata(trustedRoot: root, at: ReferenceTime.never)
        }
        try await tree.followRoots(&trusted)
        let timestamp = try await tree.bytes(URLLayout.timestamp, limit: Limits.timestamp)
        _ = try judged { () throws(TrustError) in try trusted.updateTimestamp(timestamp) }
        if let header = trusted.timestamp?.header { try Self.check(header, of: "timestamp", at: now) }
        guard let file = trusted.timestamp?.snapshot else { preconditionFailure("the first timestamp is always taken") }
        let snapshot = try await tree.bytes(
            URLLayout.metadata("snapshot", version: file.version),
            limit: min(file.length ?? Limits.snapshot, Limits.snapshot)
        )
        try judged { () throws(TrustError) in
            try trusted.updateSnapshot(snapshot)
            try trusted.checkSnapshotIsCurrent()
        }
        if let header = trusted.snapshot?.header { try Self.check(header, of: "snapshot", at: now) }
        _ = try await tree.role("targets", by: "root", &trusted)
        self.trusted = trusted
    }

    /// The channel's current release without its objects; nil where nothing was published yet.
    package func release(of channel: ChannelName) async throws(ServiceError) -> SignedRelease? {
        var trusted = trusted
        guard trusted.snapshot?.files[ExactString(channel.text)] != nil else { return nil }
        let envelope = try await tree.role(channel.text, by: "targets", &trusted)
        return try await release(of: channel, envelope)
    }

    /// An older release of the channel without its objects: signed by those who may sign for the channel now.
    package func release(of channel: ChannelName, version: Int) async throws(ServiceError) -> SignedRelease {
        guard let keys = trusted.targets["targets"]?.delegation(to: channel.text)?.keys else {
            throw .trust(.notDelegated(role: channel.text))
        }
        let envelope = try await tree.envelope(channel, version: version)
        try judged { () throws(TrustError) in try keys.check(envelope, role: channel.text) }
        return try await release(of: channel, envelope)
    }

    private var tree: Tree { Tree(app: app, client: client) }

    private func release(of channel: ChannelName, _ envelope: Envelope) async throws(ServiceError) -> SignedRelease {
        let role: TargetsRole
        do throws(FormatError) { role = try TargetsRole(envelope, name: channel.text) } catch {
            throw .trust(.malformed(error))
        }
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

    /// What the release was made from, where the tree still has it; only people are told.
    private func base(of channel: ChannelName, _ version: Int) async throws(ServiceError) -> ReleaseHeader.Base? {
        guard version > 1 else { return nil }
        do throws(ServiceError) {
            let before = try await tree.envelope(channel, version: version - 1)
            return ReleaseHeader.Base(roleVersion: version - 1, sha256: before.identity)
        } catch .problem(let problem) where problem.status == 404 {
            return ReleaseHeader.Base(roleVersion: version - 1, sha256: .nobodyKnows)
        }
    }

    private static func check(_ header: RoleHeader, of role: String, at now: UTCTime) throws(ServiceError) {
        guard header.expires > now else { throw .trust(.expired(role: role, expires: header.expires, at: now)) }
    }
}

/// The published tree of one app, file by file.
private struct Tree: Sendable {
    let app: AppID
    let client: ServiceClient

    func bytes(_ path: String, limit: Int) async throws(ServiceError) -> [UInt8] {
        // In a query a plus is a space.
        var request = ServiceRequest.service(.GET, app, "/published?path=\(path.replacing("+", with: "%2B"))")
        request.limit = limit
        return try await client.bytes(request)
    }

    func followRoots(_ trusted: inout TrustedMetadata) async throws(ServiceError) {
        for followed in 0...Limits.rootRotations {
            let bytes: [UInt8]
            do throws(ServiceError) {
                let path = URLLayout.metadata("root", version: trusted.root.header.version + 1)
                bytes = try await self.bytes(path, limit: Limits.root)
            } catch .problem(let problem) where problem.status == 404 {
                return
            }
            guard followed < Limits.rootRotations else { throw .trust(.tooManyRoots(limit: Limits.rootRotations)) }
            try judged { () throws(TrustError) in try trusted.updateRoot(bytes) }
        }
    }

    /// Fetches and trusts the current version of a role.
    func role(
        _ name: String,
        by delegator: String,
        _ trusted: inout TrustedMetadata
    ) async throws(ServiceError) -> Envelope {
        let file = try judged { [trusted] () throws(TrustError) in try trusted.file(of: name) }
        let bytes = try await bytes(
            URLLayout.metadata(name, version: file.version),
            limit: min(file.length ?? Limits.targetsRole, Limits.targetsRole)
        )
        try judged { () throws(TrustError) in try trusted.updateTargets(bytes, role: name, delegator: delegator) }
        return try Self.envelope(bytes, name)
    }

    /// A version of a channel's role, as it lies there.
    func envelope(_ channel: ChannelName, version: Int) async throws(ServiceError) -> Envelope {
        let path = URLLayout.metadata(channel.text, version: version)
        return try Self.envelope(try await bytes(path, limit: Limits.targetsRole), channel.text)
    }

    func target(_ path: TargetPath, _ file: TargetFile) async throws(ServiceError) -> [UInt8] {
        let sha256 = try judged { () throws(TrustError) in try file.requiredSHA256(of: path.text) }
        let bytes = try await bytes(URLLayout.target(path, sha256: sha256), limit: min(file.length, Limits.manifest))
        try judged { () throws(TrustError) in try file.check(bytes, name: path.text) }
        return bytes
    }

    private static func envelope(_ bytes: [UInt8], _ role: String) throws(ServiceError) -> Envelope {
        do throws(FormatError) { return try Envelope(bytes, role: role, limit: Limits.targetsRole) } catch {
            throw .trust(.malformed(error))
        }
    }
}

private func judged<Value>(_ rule: () throws(TrustError) -> Value) throws(ServiceError) -> Value {
    do throws(TrustError) { return try rule() } catch { throw .trust(error) }
}

extension SHA256Digest {
    /// Stands where a digest is for people alone and its bytes are gone.
    fileprivate static var nobodyKnows: SHA256Digest {
        guard let digest = SHA256Digest(hex: String(repeating: "0", count: 64)) else {
            preconditionFailure("64 digits are a digest")
        }
        return digest
    }
}
