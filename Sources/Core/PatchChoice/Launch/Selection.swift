package import PatchFormat
import PatchCrypto
package import PatchTrust

/// One version of one patch that this device has or had, with all data to verify it again without a list.
package struct InstalledPatch: Hashable, Sendable {
    package let patchID: PatchID
    package let kind: PatchKind
    package let version: VersionLabel
    package let url: String
    package let fingerprint: Fingerprint
    package let signature: EntrySignature
    /// The digest of a bundle's `manifest.sigs`, which is stored as an object.
    package let column: SHA256Digest?
    /// The place where a script runs.
    package let place: ScriptPlace
    /// The order of the script among those of its selection: its index in the list that it was last chosen from.
    package private(set) var turn = 0
    /// The channel whose list contained it, if the version is installed in another channel now.
    ///
    /// The signature of its entry names that channel.
    package private(set) var channel: ChannelName?

    package init(_ entry: PatchEntry, column: SHA256Digest?) {
        self.init(
            patchID: entry.patchID,
            kind: entry.kind,
            version: entry.version,
            url: entry.url,
            fingerprint: entry.fingerprint,
            signature: entry.signature,
            column: column,
            place: entry.place,
            channel: nil
        )
    }

    private init(
        patchID: PatchID,
        kind: PatchKind,
        version: VersionLabel,
        url: String,
        fingerprint: Fingerprint,
        signature: EntrySignature,
        column: SHA256Digest?,
        place: ScriptPlace,
        channel: ChannelName?
    ) {
        self.patchID = patchID
        self.kind = kind
        self.version = version
        self.url = url
        self.fingerprint = fingerprint
        self.signature = signature
        self.column = column
        self.place = place
        self.channel = channel
    }

    /// The same version with another order among the scripts.
    package func taking(turn: Int?) -> InstalledPatch {
        var patch = self
        if kind == .script, let turn { patch.turn = turn }
        return patch
    }

    /// The same version in the state of `channel`, after it was in that of `other`.
    package func recorded(in channel: ChannelName, from other: ChannelName) -> InstalledPatch {
        var patch = self
        let origin = patch.channel ?? other
        patch.channel = origin == channel ? nil : origin
        return patch
    }

    package var content: PatchContent { PatchContent(patchID: patchID, sha256: fingerprint.sha256) }
    package var address: ContentAddress { ContentAddress(sha256: fingerprint.sha256, url: url) }
    package var label: Label { Label(patchID: patchID, version: version) }

    package var json: JSON {
        let members: [(String, JSON?)] = [
            ("patchId", .text(patchID.text)), ("kind", .text(kind.rawValue)), ("version", .text(version.text)),
            ("url", .text(url)), ("signature", signature.json), ("column", column.map { .text($0.hex) }),
            ("channel", channel.map { .text($0.text) }), ("turn", turn == 0 ? nil : .integer(turn)),
        ]
        return .fields(members + fingerprint.members + place.members)
    }

    package init(_ fields: Fields) throws(FormatError) {
        guard let kind = PatchKind(rawValue: try fields.string("kind")) else {
            throw fields.broken("kind", "must be script or bundle")
        }
        self.init(
            patchID: try fields.name("patchId"),
            kind: kind,
            version: try fields.name("version"),
            url: try fields.string("url"),
            fingerprint: try fields.fingerprint(),
            signature: try EntrySignature(try fields.fields("signature")),
            column: fields.has("column") ? try fields.digest("column") : nil,
            place: try ScriptPlace(fields, kind: kind),
            channel: fields.has("channel") ? try fields.name("channel") : nil
        )
        if fields.has("turn") { turn = try fields.integer("turn", in: 0...Limits.patchesInList) }
    }
}

/// The identity of one version of one patch.
package struct PatchContent: Hashable, Comparable, Sendable {
    package let patchID: PatchID
    package let sha256: SHA256Digest

    package init(patchID: PatchID, sha256: SHA256Digest) {
        self.patchID = patchID
        self.sha256 = sha256
    }

    package static func < (left: PatchContent, right: PatchContent) -> Bool {
        (left.patchID, left.sha256) < (right.patchID, right.sha256)
    }
}

/// The version of each patch that this device runs.
///
/// It is immutable, numbered on this device, and made from one verified list.
///
/// All patches of a selection are activated together.
package struct Selection: Equatable, Sendable {
    package let number: Int
    /// The version of the channel's role that it was made from.
    package let roleVersion: Int
    /// When the selection may start, while it is pending.
    package let activates: ActivationTime
    /// Whether it contains a new mandatory version, which postponements and windows do not delay.
    package let isMandatory: Bool
    /// The content of its file.
    package let content: SelectionContent

    package init(
        number: Int,
        roleVersion: Int,
        patches: [InstalledPatch],
        entryKeys: EntryKeys,
        activates: ActivationTime = .atReload,
        isMandatory: Bool = false
    ) {
        let rows = SelectionContent.Rows(patches: patches, entryKeys: entryKeys)
        self.init(
            number: number,
            roleVersion: roleVersion,
            content: SelectionContent(rows),
            activates: activates,
            isMandatory: isMandatory
        )
    }

    package init(
        number: Int,
        roleVersion: Int,
        content: SelectionContent,
        activates: ActivationTime = .atReload,
        isMandatory: Bool = false
    ) {
        self.number = number
        self.roleVersion = roleVersion
        self.content = content
        self.activates = activates
        self.isMandatory = isMandatory
    }

    /// Sorted by id.
    package var patches: [InstalledPatch] { content.rows.patches }
    /// Its scripts in the order in which they run: that of the list, or by id if the order is unknown.
    package var scripts: [InstalledPatch] {
        patches.filter { $0.kind == .script }.enumerated()
            .sorted { ($0.element.turn, $0.offset) < ($1.element.turn, $1.offset) }.map(\.element)
    }
    /// Whether it contains only contents of `other`, and lacks only scripts of it.
    package func leavesOutScriptsAlone(of other: Selection) -> Bool {
        contents.isSubset(of: other.contents)
            && other.patches.allSatisfy { $0.kind == .script || contents.contains($0.content) }
    }

    /// The keys that its entries were verified with.
    package var entryKeys: EntryKeys { content.rows.entryKeys }

    package var contents: Set<PatchContent> { Set(patches.map(\.content)) }

    package subscript(id: PatchID) -> InstalledPatch? {
        patches.first { $0.patchID == id }
    }

    package static func == (left: Selection, right: Selection) -> Bool {
        (left.number, left.roleVersion, left.activates) == (right.number, right.roleVersion, right.activates)
            && left.isMandatory == right.isMandatory && left.content == right.content
    }

    /// The patches that `other` does not contain at all, because they were withdrawn.
    func patchIDs(missingFrom other: Selection) -> [PatchID] {
        let there = Set(other.patches.map(\.patchID))
        return patches.map(\.patchID).filter { !there.contains($0) }
    }

    /// The same selection without the patches that `other` does not contain at all.
    ///
    /// Nil if no patch is left, or if its file is lost.
    func withoutPatchesMissing(from other: Selection) -> Selection? {
        let missing = Set(patchIDs(missingFrom: other))
        let (patches, entryKeys) = (patches, entryKeys)
        guard missing.count < patches.count else { return nil }
        return missing.isEmpty
            ? self
            : Selection(
                number: number,
                roleVersion: roleVersion,
                patches: patches.filter { !missing.contains($0.patchID) },
                entryKeys: entryKeys
            )
    }

    /// The same selection with another activation time.
    func activating(_ time: ActivationTime, isMandatory: Bool? = nil) -> Selection {
        Selection(
            number: number,
            roleVersion: roleVersion,
            content: content,
            activates: time,
            isMandatory: isMandatory ?? self.isMandatory
        )
    }

    /// The same selection in the state of `channel`, after it was in that of `other`.
    package func recorded(in channel: ChannelName, from other: ChannelName) -> Selection {
        Selection(
            number: number,
            roleVersion: roleVersion,
            patches: patches.map { $0.recorded(in: channel, from: other) },
            entryKeys: entryKeys,
            activates: activates,
            isMandatory: isMandatory
        )
    }

    /// Whether all of its patches were installed from lists of this channel.
    package var isFromThisChannel: Bool { patches.allSatisfy { $0.channel == nil } }

    /// Whether it contains a bundle, so that pages can be requested.
    package var hasBundle: Bool { patches.contains { $0.kind == .bundle } }

    /// The selection with its content.
    package var json: JSON { .fields(members + content.rows.members) }

    /// The selection as a reference in `state.json`.
    ///
    /// Its content is in a file of its own.
    package var reference: JSON { .fields(members + [("selection", .text(content.digest.hex))]) }

    private var members: [(String, JSON?)] {
        [
            ("number", .integer(number)), ("roleVersion", .integer(roleVersion)),
            ("activates", activates == .atReload ? nil : .text(activates.rawValue)),
            ("mandatory", isMandatory ? .bool(true) : nil),
        ]
    }

    /// Reads ``json``.
    package init(_ fields: Fields) throws(FormatError) {
        try self.init(fields, content: SelectionContent(try SelectionContent.Rows(fields)))
    }

    /// Reads ``reference``.
    package init(_ fields: Fields, content: SelectionContent) throws(FormatError) {
        self.init(
            number: try fields.integer("number", in: 1...(1 << 53 - 1)),
            roleVersion: try fields.integer("roleVersion", in: 1...(1 << 53 - 1)),
            content: content,
            activates: try fields.optionalString("activates").flatMap(ActivationTime.init(rawValue:)) ?? .atReload,
            isMandatory: try fields.bool("mandatory", default: false)
        )
    }
}
