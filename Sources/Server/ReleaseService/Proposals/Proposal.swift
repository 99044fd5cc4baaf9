package import PatchFormat
import PatchCrypto
import PatchTrust
package import ServerRecords

/// A proposed change of a channel that a key holder has not signed yet.
///
/// It is an instruction without content: `patchsign pull --proposal` makes the release from the published state.
package struct Proposal: Equatable, Sendable {
    package static let collection = "proposal"
    package static let noteLimit = 200
    /// The limit of a proposing request in bytes: enough for rules with some 900 users.
    package static let bodyLimit = 65_536
    /// The limit of lines of the stored difference.
    static let differenceLimit = 200

    package enum State: Equatable, Sendable {
        case open
        /// Published as this version.
        case done(roleVersion: Int, at: UTCTime)
        /// Another change published this version, which no longer lists the proposal's subject.
        case overtaken(roleVersion: Int, at: UTCTime)
    }

    package let id: ProposalID
    package let app: AppID
    package let channel: ChannelName
    package let change: ProposedChange
    package let note: String?
    package let created: UTCTime
    package let actor: Actor
    /// The channel's version when it was proposed; 0 before its first release.
    package let roleVersion: Int
    /// The changes that it would have made at that time, one line each.
    package let difference: [String]
    /// For a withdrawal: the release that listed its subject last, if the current one no longer listed it.
    package let listedIn: Int?
    package private(set) var state: State

    init(
        id: ProposalID,
        app: AppID,
        channel: ChannelName,
        change: ProposedChange,
        note: String?,
        created: UTCTime,
        actor: Actor,
        roleVersion: Int,
        difference: [String],
        listedIn: Int? = nil
    ) {
        self.id = id
        self.app = app
        self.channel = channel
        self.change = change
        self.note = note
        self.created = created
        self.actor = actor
        self.roleVersion = roleVersion
        let rest = difference.count - Self.differenceLimit
        self.difference = difference.prefix(Self.differenceLimit) + (rest > 0 ? ["… and \(rest) more"] : [])
        self.listedIn = listedIn
        state = .open
    }

    func done(as roleVersion: Int, at now: UTCTime) -> Proposal {
        var proposal = self
        proposal.state = .done(roleVersion: roleVersion, at: now)
        return proposal
    }

    /// The overtaken proposal, or nil unless it is open and cannot be carried out after a release that lists these versions.
    func overtaken(by roleVersion: Int, listing labels: Set<Label>, at now: UTCTime) -> Proposal? {
        // A release cannot remove a subject that was not listed when it was proposed.
        guard state == .open, listedIn == nil else { return nil }
        let subject: (PatchID, VersionLabel?)
        switch change {
        case .withdraw(let id, let version): subject = (id, version)
        case .rules(let id, let version, _): subject = (id, version)
        case .promote, .rollBack: return nil
        }
        let isListed = labels.contains { label in
            label.patchID == subject.0 && (subject.1 == nil || label.version == subject.1)
        }
        guard !isListed else { return nil }
        var proposal = self
        proposal.state = .overtaken(roleVersion: roleVersion, at: now)
        return proposal
    }

    var key: RecordKey { Self.key(id, channel, app) }

    static func prefix(_ channel: ChannelName, _ app: AppID) -> String { "\(app)/\(channel)/" }

    static func key(_ id: ProposalID, _ channel: ChannelName, _ app: AppID) -> RecordKey {
        RecordKey(collection, prefix(channel, app) + id.text)
    }

    /// - Throws: an error for a note of more than one line.
    package static func note(_ fields: Fields) throws(FormatError) -> String? {
        try ReleaseNotes.line(fields, "note", limit: noteLimit)
    }
}

extension Proposal {
    init(_ record: Record) throws(RecordError) {
        do throws(FormatError) {
            let fields = try Fields(record.value, of: "proposal")
            try fields.constant("format", "patchline-proposal-v1")
            id = try fields.name("id")
            app = try fields.name("app")
            channel = try fields.name("channel")
            change = try ProposedChange(try fields.fields("change"))
            note = try fields.optionalString("note")
            created = try fields.time("created")
            actor = try Actor(try fields.fields("by"))
            roleVersion = try fields.integer("roleVersion", in: 0...(1 << 53 - 1))
            difference = try fields.strings("difference", limit: 2 * Limits.patchesInList)
            listedIn = fields.has("listedIn") ? try fields.integer("listedIn", in: 1...(1 << 53 - 1)) : nil
            let word = try fields.string("state")
            if word == "open" {
                state = .open
            } else {
                let version = try fields.integer("publishedAs", in: 1...(1 << 53 - 1))
                let time = try fields.time("done")
                state =
                    word == "overtaken"
                    ? .overtaken(roleVersion: version, at: time) : .done(roleVersion: version, at: time)
            }
        } catch { throw .malformed(record.key, rule: error.description) }
    }

    package var json: JSON {
        let ending: [(String, JSON?)] =
            switch state {
            case .open: [("state", .text("open"))]
            case .done(let version, let time):
                [
                    ("state", .text("done")), ("publishedAs", .integer(version)), ("done", .text(time.description)),
                ]
            // With the members of `done`, since older programs parse it as that.
            case .overtaken(let version, let time):
                [
                    ("state", .text("overtaken")), ("publishedAs", .integer(version)),
                    ("done", .text(time.description)),
                ]
            }
        return .fields(
            [
                ("format", .text("patchline-proposal-v1")), ("id", .text(id.text)), ("app", .text(app.text)),
                ("channel", .text(channel.text)), ("change", .fields(change.members)),
                ("note", note.map { .text($0) }), ("created", .text(created.description)), ("by", actor.json),
                ("proposer", .text(actor.text)), ("roleVersion", .integer(roleVersion)),
                ("difference", .array(difference.map { .text($0) })), ("listedIn", listedIn.map { .integer($0) }),
            ] + ending
        )
    }

    /// The part for the audit entry: the change itself may be long, and is identified by its digest.
    var audited: JSON {
        let words = change.words(channel: channel).unicodeScalars
        return .fields([
            ("proposal", .text(id.text)),
            ("sha256", .text(SHA256Digest(of: JSON.fields(change.members).canonicalBytes).hex)),
            ("summary", .text(String(words.prefix(Self.noteLimit)) + (words.count > Self.noteLimit ? "…" : ""))),
        ])
    }
}
