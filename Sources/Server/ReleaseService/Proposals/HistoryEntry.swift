package import PatchFormat
package import PatchServer
import PatchTrust
import ReleaseFolder
package import ServerRecords

/// A published release: its list, its publisher and time, and its notes.
package struct HistoryEntry: Equatable, Sendable {
    package static let collection = "history"

    package struct Patch: Equatable, Sendable {
        package let label: Label
        package let kind: PatchKind
        package let sha256: SHA256Digest
        /// The signed ceiling, in devices of 10,000.
        package let rollout: Int
    }

    package let app: AppID
    package let channel: ChannelName
    package let roleVersion: Int
    /// The digest of the role's signed part.
    package let identity: SHA256Digest
    package let published: UTCTime
    package let actor: Actor
    package private(set) var notes: ReleaseNotes
    package let patches: [Patch]
    /// The proposal that it carried out.
    package let proposal: ProposalID?
    /// The versions whose rollout it set.
    package var started: [StartedVersion] = []
    /// The versions that it withdrew, including ones that only an earlier release listed.
    package var withdrawn: [Label] = []

    package var key: RecordKey {
        RecordKey(Self.collection, Self.prefix(app, channel) + RecordKey.digits(roleVersion) + "/" + identity.hex)
    }

    var known: KnownRelease {
        KnownRelease(
            channel,
            roleVersion: roleVersion,
            labels: Dictionary(patches.map { ($0.label, $0.sha256) }) { first, _ in first }
        )
    }

    func with(_ notes: ReleaseNotes) -> HistoryEntry {
        var entry = self
        entry.notes = notes
        return entry
    }

    static func prefix(_ app: AppID, _ channel: ChannelName) -> String { "\(app)/\(channel)/" }

    /// The record name that sorts before all releases below this version.
    static func name(_ app: AppID, _ channel: ChannelName, below version: Int) -> String {
        prefix(app, channel) + RecordKey.digits(version)
    }
}

extension HistoryEntry.Patch {
    init(_ entry: PatchEntry) {
        label = Label(patchID: entry.patchID, version: entry.version)
        kind = entry.kind
        sha256 = entry.fingerprint.sha256
        rollout = entry.rules.rollout
    }

    init(_ fields: Fields) throws(FormatError) {
        label = Label(patchID: try fields.name("patchId"), version: try fields.name("version"))
        guard let kind = PatchKind(rawValue: try fields.string("kind")) else {
            throw fields.broken("kind", "must be script or bundle")
        }
        self.kind = kind
        sha256 = try fields.digest("sha256")
        rollout = try fields.integer("rollout", in: 0...10_000)
    }

    var json: JSON {
        .fields([
            ("patchId", .text(label.patchID.text)), ("version", .text(label.version.text)),
            ("kind", .text(kind.rawValue)), ("sha256", .text(sha256.hex)), ("rollout", .integer(rollout)),
        ])
    }
}

extension HistoryEntry {
    /// The entry of a release, in case it is published.
    init(
        _ release: SignedRelease,
        notes: ReleaseNotes,
        started: [StartedVersion] = [],
        by actor: Actor,
        at now: UTCTime
    ) {
        let channel = release.header.channel
        let list = release.targets[.patchList(channel)].flatMap { try? ParsedPatchList($0) }?.list
        self.init(
            app: release.header.app,
            channel: channel,
            roleVersion: release.header.roleVersion,
            identity: release.role.identity,
            published: now,
            actor: actor,
            notes: notes,
            patches: (list?.entries ?? []).map(Patch.init),
            proposal: release.header.proposal,
            started: started,
            // Later lists repeat these, so the serial is compared.
            withdrawn: (list?.withdrawn ?? []).filter { $0.serial == list?.serial }.map(\.label)
        )
    }
}

extension HistoryEntry {
    init(_ record: Record) throws(RecordError) {
        do throws(FormatError) {
            let fields = try Fields(record.value, of: "history")
            try fields.constant("format", "patchline-history-v1")
            app = try fields.name("app")
            channel = try fields.name("channel")
            roleVersion = try fields.integer("roleVersion", in: 1...(1 << 53 - 1))
            identity = try fields.digest("identity")
            published = try fields.time("published")
            actor = try Actor(try fields.fields("by"))
            notes = try ReleaseNotes(fields)
            var patches: [Patch] = []
            for (index, value) in try fields.array("patches", limit: Limits.patchesInList).enumerated() {
                patches.append(try Patch(try Fields(value, of: "history", at: "patches[\(index)]")))
            }
            self.patches = patches
            proposal = fields.has("proposal") ? try fields.name("proposal") : nil
            if fields.has("started") {
                for (index, value) in try fields.array("started", limit: Limits.patchesInList).enumerated() {
                    started.append(try StartedVersion(try Fields(value, of: "history", at: "started[\(index)]")))
                }
            }
            if fields.has("withdrawn") {
                for (index, value) in try fields.array("withdrawn", limit: Limits.withdrawnInList).enumerated() {
                    let version = try Fields(value, of: "history", at: "withdrawn[\(index)]")
                    withdrawn.append(
                        Label(patchID: try version.name("patchId"), version: try version.name("version"))
                    )
                }
            }
        } catch { throw .malformed(record.key, rule: error.description) }
    }

    package var json: JSON {
        .fields(
            [
                ("format", .text("patchline-history-v1")), ("app", .text(app.text)), ("channel", .text(channel.text)),
                ("roleVersion", .integer(roleVersion)), ("identity", .text(identity.hex)),
                ("published", .text(published.description)), ("by", actor.json),
            ] + notes.members + [
                ("patches", .array(patches.map(\.json))), ("proposal", proposal.map { .text($0.text) }),
                ("started", started.isEmpty ? nil : .array(started.map(\.json))),
                ("withdrawn", withdrawn.isEmpty ? nil : .array(withdrawn.map(\.json))),
            ]
        )
    }
}

extension HistoryEntry {
    /// The part for the audit entry; the rest is in the history.
    func audited(recovered: Bool) -> JSON {
        .fields([
            ("roleVersion", .integer(roleVersion)), ("identity", .text(identity.hex)),
            ("label", notes.label.map { .text($0) }),
            ("commit", notes.commit.map { .text($0) }), ("proposal", proposal.map { .text($0.text) }),
            ("recovered", recovered ? .bool(true) : nil),
        ])
    }
}

extension JSON {
    package func adding(_ members: [(String, JSON?)]) -> JSON {
        guard var object else { return self }
        for (key, value) in members { object[key] = value }
        return .object(object)
    }
}
