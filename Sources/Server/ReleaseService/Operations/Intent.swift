import PatchCrypto
import PatchFormat
import PatchServer
import PatchTrust
import ReleaseFolder
import ServerRecords

/// A change that is recorded before it is made.
///
/// If the process is killed, the next one determines from the tree whether the change was made, and writes the missing history and
/// audit entries.
struct Intent: Equatable, Sendable {
    static let collection = "intent"

    enum Change: Equatable, Sendable {
        /// A release is published, or stored as a draft.
        case publish(ChannelName)
        case turnDial(ChannelName)
        case changeParameters(ChannelName)
        case removeDraft(ChannelName, version: Int)
        /// A newer root of trust is accepted, perhaps with releases.
        case takeTrust
        /// An app is created.
        case create
    }

    let app: AppID
    let change: Change
    let actor: Actor
    /// The history entry of each release, in case it is published.
    private(set) var entries: [HistoryEntry] = []
    /// The state before the change; see ``state(in:)``.
    private(set) var before: JSON = .null
    /// The digest of `role.json` of a draft of the same version; nil if there is none, or it cannot be read.
    private(set) var draft: SHA256Digest?

    init(_ change: Change, of app: AppID, by actor: Actor, publishing entries: [HistoryEntry] = []) {
        self.app = app
        self.change = change
        self.actor = actor
        self.entries = entries
    }

    /// One intent at a time for each changeable item.
    var key: RecordKey {
        switch change {
        case .publish(let channel): RecordKey(Self.collection, "\(app)/\(channel)")
        case .turnDial(let channel): RecordKey(Self.collection, "\(app)/\(channel)/dial")
        case .changeParameters(let channel): RecordKey(Self.collection, "\(app)/\(channel)/parameters")
        case .removeDraft(let channel, let version): RecordKey(Self.collection, "\(app)/\(channel)/drafts/\(version)")
        case .takeTrust: RecordKey(Self.collection, "\(app)//trust")
        case .create: RecordKey(Self.collection, "\(app)//create")
        }
    }

    static func prefix(_ app: AppID) -> String { "\(app)/" }

    /// The action's name in the audit log.
    var action: String {
        switch change {
        case .publish: "release.publish"
        case .turnDial: "dial.turn"
        case .changeParameters: "parameters.change"
        case .removeDraft: "draft.remove"
        case .takeTrust: "trust.update"
        case .create: "app.create"
        }
    }

    var channel: ChannelName? {
        switch change {
        case .publish(let channel), .turnDial(let channel), .changeParameters(let channel): channel
        case .removeDraft(let channel, _): channel
        case .takeTrust, .create: nil
        }
    }

    /// Takes over from an interrupted intent with an unknown outcome.
    func continuing(_ other: Intent) -> Intent {
        var intent = self
        (intent.before, intent.draft) = (other.before, other.draft)
        intent.entries = other.entries.filter { old in !entries.contains { $0.key == old.key } } + entries
        return intent
    }

    func event(_ action: String? = nil, after: JSON) -> AuditEntry.Event {
        AuditEntry.Event(action ?? self.action, by: actor, app: app, channel: channel, before: before, after: after)
    }
}

extension Intent {
    init(_ record: Record) throws(RecordError) {
        do throws(FormatError) {
            let fields = try Fields(record.value, of: "intent")
            try fields.constant("format", "patchline-intent-v1")
            app = try fields.name("app")
            actor = try Actor(try fields.fields("by"))
            before = record.value["before"] ?? .null
            draft = fields.has("draft") ? try fields.digest("draft") : nil
            switch try fields.string("action") {
            case "release.publish": change = .publish(try fields.name("channel"))
            case "dial.turn": change = .turnDial(try fields.name("channel"))
            case "parameters.change": change = .changeParameters(try fields.name("channel"))
            case "draft.remove":
                let version = try fields.integer("roleVersion", in: 1...(1 << 53 - 1))
                change = .removeDraft(try fields.name("channel"), version: version)
            case "trust.update": change = .takeTrust
            case "app.create": change = .create
            default: throw fields.broken("action", "is not recorded in advance")
            }
        } catch { throw .malformed(record.key, rule: error.description) }
        guard case .array(let values) = record.value["entries"] else { return }
        for value in values { entries.append(try HistoryEntry(Record(record, value))) }
    }

    var json: JSON {
        var version: Int?
        if case .removeDraft(_, let number) = change { version = number }
        return .fields([
            ("format", .text("patchline-intent-v1")), ("app", .text(app.text)), ("action", .text(action)),
            ("channel", channel.map { .text($0.text) }), ("roleVersion", version.map { .integer($0) }),
            ("by", actor.json), ("before", before), ("draft", draft.map { .text($0.hex) }),
            ("entries", .array(entries.map(\.json))),
        ])
    }
}

extension Record {
    /// Parses one part of an intent.
    fileprivate init(_ record: Record, _ value: JSON) {
        self.init(key: record.key, revision: record.revision, value: value)
    }
}

extension Intent {
    /// The intent with the present state as the state before the change.
    func begun(on repository: AppRepository) throws(ServerError) -> Intent {
        var intent = self
        intent.before = try state(in: repository)
        if case .publish = change, let entry = entries.last { intent.draft = try entry.draft(in: repository) }
        return intent
    }

    /// The present state, in the tree, of the item to be changed.
    ///
    /// A different state later means that the change was made: no process changes an app before its intents are settled.
    func state(in repository: AppRepository) throws(ServerError) -> JSON {
        switch change {
        case .publish(let channel):
            guard let current = try PublishedState(of: repository).channels[channel] else { return .null }
            return .fields([
                ("roleVersion", .integer(current.role.header.version)), ("identity", .text(current.identity.hex)),
            ])
        case .turnDial(let channel): return try repository.dial(of: channel).json
        case .changeParameters(let channel):
            // Unreadable parameters may be replaced.
            do throws(ServerError) { return try repository.parameters(of: channel).json } catch .tree(_, .malformed) {
                return .null
            }
        case .removeDraft(let channel, let version):
            guard try repository.tree.hasDraft(of: channel, version: version) else { return .null }
            let identity = (try? repository.tree.draft(of: channel, version: version))?.identity
            return .fields([
                ("roleVersion", .integer(version)), ("identity", (identity?.hex).map { .text($0) }),
                ("damaged", identity == nil ? .bool(true) : nil),
            ])
        case .takeTrust, .create: return try repository.trustSummary()
        }
    }

    /// Whether the tree's state is as before.
    ///
    /// A dial's version rises with every new signature of its role, and is ignored.
    func isUndone(by state: JSON) -> Bool {
        guard case .turnDial = change, let old = before["versions"], let new = state["versions"] else {
            return state.fileBytes == before.fileBytes
        }
        return new.fileBytes == old.fileBytes
    }
}

extension HistoryEntry {
    /// The SHA-256 of `role.json`, signatures included, of the draft with this content; nil if there is none, or it is damaged.
    func draft(in repository: AppRepository) throws(ServerError) -> SHA256Digest? {
        do throws(ServerError) {
            return try repository.draft(of: channel, version: roleVersion, identity: identity).map {
                SHA256Digest(of: $0.release.role.fileBytes)
            }
        } catch .release { return nil }
    }
}

/// The evidence in the tree of whether an intent was carried out.
struct IntentEvidence: Sendable {
    var state: JSON = .null
    var published: [HistoryEntry] = []
    /// Releases stored as a draft, with additional signatures.
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

    /// The audit event, or nil if the change was not made.
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
