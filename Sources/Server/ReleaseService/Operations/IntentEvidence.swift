import PatchFormat
import PatchServer
import ServerRecords

/// The evidence in the tree of whether an intent was carried out.
struct IntentEvidence: Sendable {
    var state: JSON = .null
    var published: [HistoryEntry] = []
    /// Kept as a draft, of a publish: with signatures that it did not have before.
    var drafted: [HistoryEntry] = []

    init() {}

    init(of intent: Intent, in repository: AppRepository) throws(ServerError) {
        state = try intent.state(in: repository)
        guard !intent.entries.isEmpty else { return }
        let state = try PublishedState(of: repository)
        for entry in intent.entries {
            let (channel, version) = (entry.channel, entry.roleVersion)
            if try repository.hasPublished(entry.identity, of: channel, version: version, in: state) {
                published.append(entry)
            } else if let draft = try entry.draft(in: repository), draft != intent.draft {
                drafted.append(entry)
            }
        }
    }

    /// Nil for what was not done.
    func event(of intent: Intent, new: [HistoryEntry]) -> AuditEntry.Event? {
        switch intent.change {
        case .publish:
            if let entry = new.last { return intent.event(after: entry.audited(recovered: true)) }
            guard published.isEmpty, let entry = drafted.last else { return nil }
            return intent.event("release.draft", after: entry.audited(recovered: true))
        case .turnDial, .changeParameters, .removeDraft, .takeTrust, .create:
            guard !intent.isUndone(by: state) || !new.isEmpty else { return nil }
            let after = state == .null ? JSON.fields([]) : state
            return intent.event(after: after.adding([("recovered", .bool(true))]))
        }
    }
}
