package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder

/// The files of the tree, whether a release lists them or not.
extension AppRepository {
    /// Whether devices were ever offered this release: the channel's current one, or one that was superseded or dropped
    /// since.
    ///
    /// A number above those was given to what an interrupted publish left behind.
    package func hasPublished(
        _ identity: SHA256Digest,
        of channel: ChannelName,
        version: Int,
        in state: PublishedState
    ) throws(ServerError) -> Bool {
        let current = state.channels[channel]
        if let current, current.identity == identity { return true }
        let last = current == nil ? try labels().dropped[channel] ?? 0 : state.version(of: channel) - 1
        guard version <= last else { return false }
        let file = TreePath.File.role(channel.text, version: version)
        guard let bytes = try storage.read(file, limit: Limits.targetsRole) else { return false }
        return (try? Envelope(bytes, role: channel.text, limit: Limits.targetsRole))?.identity == identity
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
