import PatchFormat
import PatchStore
import PatchTrust

/// The client workflow of TUF 5.3 to 5.6: asks, lets ``TrustedMetadata`` judge, stores what was taken, in that order.
///
/// Each role is stored as soon as it is trusted, so that an interrupted refresh leaves a state to go on from.
struct MetadataRefresh {
    let store: DeviceStore
    let fetcher: any Fetcher
    let deadlines: Deadlines
    var atCommitPoint: (CommitPoint) -> Void = { _ in }

    /// Everything that a sync of `channel` rests on, unexpired.
    ///
    /// The dial is there if the channel's server keeps one that holds.
    func refresh(channel: ChannelName, at time: UTCTime) async throws(SyncError) -> TrustedMetadata {
        guard let root = try store.metadata("root") else { throw .noStore(store.root) }
        var trusted = try judged { () throws(TrustError) in try TrustedMetadata(trustedRoot: root, at: time) }
        try await followRoots(&trusted)
        try await timestamp(&trusted)
        try await snapshot(&trusted)
        try await targets("targets", by: "root", &trusted)
        try await targets(channel.text, by: "targets", &trusted)
        atCommitPoint(.afterMetadata)
        return trusted
    }

    /// The dial's role and document; nil without one that is valid now.
    func dial(app: AppID, channel: ChannelName, _ trusted: inout TrustedMetadata) async -> Dial? {
        let path = TargetPath.dial(channel)
        do throws(SyncError) {
            try await targets("dial", by: "targets", &trusted)
            let file = try judged { [trusted] () throws(TrustError) in try trusted.target(path, of: "dial") }
            let bytes = try await document(of: channel, file, path)
            let dial: Dial
            do throws(FormatError) { dial = try Dial(bytes) } catch { throw .format(error) }
            return dial.app == app && dial.channel == channel ? dial : nil
        } catch {
            return nil
        }
    }

    /// The dial's bytes as stored while they are the ones that its role names, else from the server.
    private func document(
        of channel: ChannelName,
        _ file: TargetFile,
        _ path: TargetPath
    ) async throws(SyncError) -> [UInt8] {
        if let stored = try store.dial(of: channel), file.matches(stored) { return stored }
        let bytes = try await fetch(URLLayout.target(path, sha256: file.sha256), limit: min(file.length, Limits.dial))
        try judged { () throws(TrustError) in try file.check(bytes, name: path.text) }
        // Only saves the next sync a request: a dial that cannot be stored still holds.
        try? store.saveDial(bytes, of: channel)
        return bytes
    }

    /// Asks for the next root until there is none, from the first day on (TUF 5.3.2 to 5.3.10).
    private func followRoots(_ trusted: inout TrustedMetadata) async throws(SyncError) {
        for followed in 0...Limits.rootRotations {
            let next = trusted.root.header.version + 1
            let bytes: [UInt8]
            do throws(FetchError) {
                bytes = try await fetcher.bytes(
                    URLLayout.metadata("root", version: next),
                    limit: Limits.root,
                    deadline: deadlines.document
                )
            } catch .notFound {
                break
            } catch { throw .fetch(error) }
            guard followed < Limits.rootRotations else { throw .trust(.tooManyRoots(limit: Limits.rootRotations)) }
            try judged { () throws(TrustError) in try trusted.updateRoot(bytes) }
            try store.saveRoot(bytes, version: next)
        }
        try judged { [trusted] () throws(TrustError) in try trusted.checkRootExpiry() }
    }

    private func timestamp(_ trusted: inout TrustedMetadata) async throws(SyncError) {
        if let stored = try store.metadata("timestamp") {
            // One that no longer verifies, after a rotation, counts as absent (TUF 5.3.11).
            _ = try? trusted.updateTimestamp(stored)
        }
        let bytes = try await fetch(URLLayout.timestamp, limit: Limits.timestamp)
        let update = try judged { () throws(TrustError) in try trusted.updateTimestamp(bytes) }
        try judged { [trusted] () throws(TrustError) in try trusted.checkTimestampExpiry() }
        if update == .taken { try store.saveMetadata(bytes, role: "timestamp") }
    }

    private func snapshot(_ trusted: inout TrustedMetadata) async throws(SyncError) {
        guard let file = trusted.timestamp?.snapshot else { preconditionFailure("the timestamp comes first") }
        if let stored = try store.metadata("snapshot") {
            try? trusted.updateSnapshot(stored, stored: true)
            if let sha256 = file.sha256, SHA256Digest(of: stored) == sha256,
                trusted.snapshot?.header.version == file.version
            {
                return try judged { [trusted] () throws(TrustError) in try trusted.checkSnapshotIsCurrent() }
            }
        }
        let bytes = try await fetch(
            URLLayout.metadata("snapshot", version: file.version),
            limit: min(file.length ?? Limits.snapshot, Limits.snapshot)
        )
        try judged { () throws(TrustError) in
            try trusted.updateSnapshot(bytes)
            try trusted.checkSnapshotIsCurrent()
        }
        try store.saveMetadata(bytes, role: "snapshot")
    }

    private func targets(_ role: String, by delegator: String, _ trusted: inout TrustedMetadata) async throws(SyncError)
    {
        let file = try judged { [trusted] () throws(TrustError) in try trusted.file(of: role) }
        if let stored = try store.metadata(role),
            (try? trusted.updateTargets(stored, role: role, delegator: delegator)) != nil
        {
            return
        }
        let bytes = try await fetch(
            URLLayout.metadata(role, version: file.version),
            limit: min(file.length ?? Limits.targetsRole, Limits.targetsRole)
        )
        try judged { () throws(TrustError) in try trusted.updateTargets(bytes, role: role, delegator: delegator) }
        try store.saveMetadata(bytes, role: role)
    }

    private func fetch(_ path: String, limit: Int) async throws(SyncError) -> [UInt8] {
        do throws(FetchError) {
            return try await fetcher.bytes(path, limit: limit, deadline: deadlines.document)
        } catch { throw .fetch(error) }
    }

    private func judged<Result>(_ rule: () throws(TrustError) -> Result) throws(SyncError) -> Result {
        do throws(TrustError) { return try rule() } catch { throw .trust(error) }
    }
}
