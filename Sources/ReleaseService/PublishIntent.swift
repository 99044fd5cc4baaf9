import PatchFormat
import PatchTrust
import ReleaseFolder
import ServerRecords

/// What somebody is about to publish, written down first: so that whatever the server dies of in between, the next start
/// knows what to look for in the tree, and writes the history that is missing.
struct PublishIntent: Equatable, Sendable {
    static let collection = "intent"

    /// What the history will say, should it be published.
    let entry: HistoryEntry

    init(_ release: SignedRelease, notes: ReleaseNotes, by actor: Actor, at now: UTCTime) {
        let channel = release.header.channel
        let list = release.targets[.patchList(channel)].flatMap { try? ParsedPatchList($0) }?.list
        entry = HistoryEntry(
            app: release.header.app,
            channel: channel,
            roleVersion: release.header.roleVersion,
            identity: release.role.identity,
            published: now,
            actor: actor,
            notes: notes,
            patches: (list?.entries ?? []).map(HistoryEntry.Patch.init),
            proposal: release.header.proposal
        )
    }

    init(_ record: Record) throws(RecordError) {
        entry = try HistoryEntry(record)
    }

    var key: RecordKey { Self.key(entry.app, entry.channel) }

    /// One at a time for each channel.
    static func key(_ app: AppID, _ channel: ChannelName) -> RecordKey {
        RecordKey(collection, "\(app)/\(channel)")
    }
}
