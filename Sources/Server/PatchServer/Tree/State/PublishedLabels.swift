package import PatchFormat
import PatchCrypto
package import PatchTrust

/// Every label that was ever published, with its one content: `labels.json`.
///
/// A row contains the role that published it. Labels of a publish that was interrupted before its timestamp have a newer role than
/// the published one.
package struct PublishedLabels: Equatable, Sendable {
    package static let format = "patchline-labels-v1"
    private static let name = "labels.json"

    package struct Row: Hashable, Sendable {
        package let sha256: SHA256Digest
        package let channel: ChannelName
        package let roleVersion: Int

        package init(sha256: SHA256Digest, channel: ChannelName, roleVersion: Int) {
            self.sha256 = sha256
            self.channel = channel
            self.roleVersion = roleVersion
        }
    }

    package private(set) var rows: [Label: Row] = [:]
    /// Channels that were once removed from the root of trust, with their version then; some may be published again.
    package private(set) var dropped: [ChannelName: Int] = [:]

    /// The labels of a server that has published nothing yet.
    package init() {}

    /// The highest role that published a label of the channel.
    package func newestRole(of channel: ChannelName) -> Int {
        rows.values.reduce(0) { $1.channel == channel ? max($0, $1.roleVersion) : $0 }
    }

    /// Removes labels that were never published.
    package func published(in state: PublishedState) -> PublishedLabels {
        var labels = self
        labels.rows = rows.filter { _, row in
            row.roleVersion <= max(state.version(of: row.channel), dropped[row.channel] ?? 0)
        }
        return labels
    }

    /// Removes an attacker's labels: the channel is reset to before `roleVersion`.
    package func recovering(_ channel: ChannelName, at roleVersion: Int) -> PublishedLabels {
        var labels = self
        labels.rows = rows.filter { _, row in row.channel != channel || row.roleVersion < roleVersion }
        return labels
    }

    /// Adds a channel that is no longer published; its labels stay.
    package func dropping(_ channel: ChannelName, at roleVersion: Int) -> PublishedLabels {
        var labels = self
        labels.dropped[channel] = max(roleVersion, dropped[channel] ?? 0)
        return labels
    }

    /// - Throws: `republished` at the first entry whose label is known with other bytes.
    package func adding(_ entries: [PatchEntry], channel: ChannelName, roleVersion: Int) throws(EntryFault)
        -> PublishedLabels
    {
        var labels = self
        for entry in entries {
            let label = Label(patchID: entry.patchID, version: entry.version)
            let sha256 = entry.fingerprint.sha256
            let row = Row(sha256: sha256, channel: channel, roleVersion: roleVersion)
            guard labels.note(label, row) else { throw EntryFault(entry: label.description, rule: .republished) }
        }
        return labels
    }

    /// Records a label unless it is known; false if it is known with other bytes.
    package mutating func note(_ label: Label, _ row: Row) -> Bool {
        guard let known = rows[label] else {
            rows[label] = row
            return true
        }
        return known.sha256 == row.sha256
    }
}

extension PublishedLabels {
    package init(_ bytes: [UInt8]) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: Self.name, limit: Limits.stateFile), of: Self.name)
        try fields.constant("format", Self.format)
        for (index, value) in try fields.array("labels", limit: Limits.stateFile).enumerated() {
            let row = try Fields(value, of: Self.name, at: "labels[\(index)]")
            let label = Label(patchID: try row.name("patchId"), version: try row.name("version"))
            rows[label] = Row(
                sha256: try row.digest("sha256"),
                channel: try row.name("channel"),
                roleVersion: try row.integer("roleVersion", in: 1...(1 << 53 - 1))
            )
        }
        guard fields.has("dropped") else { return }
        for (index, value) in try fields.array("dropped", limit: Limits.stateFile).enumerated() {
            let row = try Fields(value, of: Self.name, at: "dropped[\(index)]")
            dropped[try row.name("channel")] = try row.integer("roleVersion", in: 1...(1 << 53 - 1))
        }
    }

    package var fileBytes: [UInt8] {
        let sorted = rows.sorted { ($0.key.patchID, $0.key.version) < ($1.key.patchID, $1.key.version) }
        return JSON.fields([
            ("format", .text(Self.format)),
            ("dropped", dropped.isEmpty ? nil : .array(dropped.sorted { $0.key < $1.key }.map(Self.json(dropped:)))),
            (
                "labels",
                .array(
                    sorted.map { label, row in
                        .fields([
                            ("patchId", .text(label.patchID.text)), ("version", .text(label.version.text)),
                            ("sha256", .text(row.sha256.hex)), ("channel", .text(row.channel.text)),
                            ("roleVersion", .integer(row.roleVersion)),
                        ])
                    }
                )
            ),
        ]).fileBytes
    }

    private static func json(dropped row: (key: ChannelName, value: Int)) -> JSON {
        .fields([("channel", .text(row.key.text)), ("roleVersion", .integer(row.value))])
    }
}
