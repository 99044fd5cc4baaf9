package import PatchFormat
package import PatchTrust

/// `embedded.json`: the versions that an app embeds, with all data needed to verify them.
///
/// ```
/// { "format": "patchline-embedded-v1", "app": …, "channel": …, "appBuild": "1042", "roleVersion": 7,
///   "selection": { "patches": [ { …a list entry…, "column": "<sha256 of manifest.sigs>" } ], "x-patchline-entry-keys": { … } } }
/// ```
///
/// The document is trusted like the app itself. Its entries are verified before they run, like those of any list.
package struct EmbeddedDocument: Equatable, Sendable {
    package static let format = "patchline-embedded-v1"

    /// One version and, for a bundle, the digest of its `manifest.sigs`.
    package struct Patch: Equatable, Sendable {
        package let entry: PatchEntry
        package let column: SHA256Digest?

        package init(_ entry: PatchEntry, column: SHA256Digest?) {
            self.entry = entry
            self.column = column
        }
    }

    package let app: AppID
    /// The channel of the list that it was taken from.
    package let channel: ChannelName
    package let appBuild: AppBuild?
    /// The version of the channel's role.
    ///
    /// Only a list of a higher version replaces this selection.
    package let roleVersion: Int
    /// In ascending order of ids.
    package let patches: [Patch]
    package let entryKeys: EntryKeys

    package init(
        app: AppID,
        channel: ChannelName,
        appBuild: AppBuild?,
        roleVersion: Int,
        patches: [Patch],
        entryKeys: EntryKeys
    ) {
        self.app = app
        self.channel = channel
        self.appBuild = appBuild
        self.roleVersion = roleVersion
        self.patches = patches.sorted { $0.entry.patchID < $1.entry.patchID }
        self.entryKeys = entryKeys
    }

    package init(_ bytes: [UInt8], named document: String = EmbeddedLayout.document) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: Limits.patchList), of: document)
        try fields.constant("format", Self.format)
        let app: AppID = try fields.name("app")
        let channel: ChannelName = try fields.name("channel")
        let selection = try fields.fields("selection")
        var patches: [Patch] = []
        var ids: [ExactString: PatchID] = [:]
        for (index, value) in try selection.array("patches", limit: Limits.patchesInList).enumerated() {
            let row = try Fields(value, of: document, at: "\(selection.at("patches"))[\(index)]")
            let patch = try Patch(row, app: app, channel: channel)
            let id = patch.entry.patchID
            if let other = ids.updateValue(id, forKey: id.caseFolded) {
                // A case-insensitive file system would store both folders as one.
                throw row.broken("patchId", other == id ? "is listed twice" : "equals \(other) after case folding")
            }
            patches.append(patch)
        }
        self.init(
            app: app,
            channel: channel,
            appBuild: fields.has("appBuild") ? try fields.name("appBuild") : nil,
            roleVersion: try fields.integer("roleVersion", in: 1...(1 << 53 - 1)),
            patches: patches,
            entryKeys: try EntryKeys(selection)
        )
    }

    package var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("app", .text(app.text)), ("channel", .text(channel.text)),
            ("appBuild", appBuild.map { .text($0.text) }), ("roleVersion", .integer(roleVersion)),
            (
                "selection",
                .fields([("patches", .array(patches.map(\.json))), (EntryKeys.member, entryKeys.json)])
            ),
        ])
    }
}

extension EmbeddedDocument.Patch {
    fileprivate init(_ fields: Fields, app: AppID, channel: ChannelName) throws(FormatError) {
        let entry = try PatchEntry(fields, app: app, channel: channel)
        let column: SHA256Digest? = fields.has("column") ? try fields.digest("column") : nil
        guard (column != nil) == (entry.kind == .bundle) else {
            throw fields.broken("column", "must be set for a bundle, and only for a bundle")
        }
        self.init(entry, column: column)
    }

    fileprivate var json: JSON {
        var row = entry.json.object ?? JSONObject()
        row["column"] = column.map { .text($0.hex) }
        return .object(row)
    }
}

extension PatchID {
    /// Equal for two ids whose folders a case-insensitive file system may store as one.
    package var caseFolded: ExactString { ExactString(text.lowercased()) }
}
