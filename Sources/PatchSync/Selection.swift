package import PatchFormat
package import PatchTrust

/// One version of one patch that this device has or had: everything to verify it again without a list.
package struct InstalledPatch: Hashable, Sendable {
    package let patchID: PatchID
    package let kind: PatchKind
    package let version: VersionLabel
    package let url: String
    package let fingerprint: Fingerprint
    package let signature: EntrySignature
    /// A bundle's `manifest.sigs`, kept as an object.
    package let column: SHA256Digest?
    /// The channel whose list it came from, where that is another than the one it is installed in now.
    ///
    /// Its entry's signature names that channel.
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
        channel: ChannelName?
    ) {
        self.patchID = patchID
        self.kind = kind
        self.version = version
        self.url = url
        self.fingerprint = fingerprint
        self.signature = signature
        self.column = column
        self.channel = channel
    }

    /// The same version in the state of `channel`, where it stood in that of `other` so far.
    func told(in channel: ChannelName, from other: ChannelName) -> InstalledPatch {
        var patch = self
        let origin = patch.channel ?? other
        patch.channel = origin == channel ? nil : origin
        return patch
    }

    package var content: PatchContent { PatchContent(patchID: patchID, sha256: fingerprint.sha256) }
    package var address: ContentAddress { ContentAddress(sha256: fingerprint.sha256, url: url) }
    package var label: Label { Label(patchID: patchID, version: version) }

    var json: JSON {
        let members: [(String, JSON?)] = [
            ("patchId", .text(patchID.text)), ("kind", .text(kind.rawValue)), ("version", .text(version.text)),
            ("url", .text(url)), ("signature", signature.json), ("column", column.map { .text($0.hex) }),
            ("channel", channel.map { .text($0.text) }),
        ]
        return .fields(members + fingerprint.members)
    }

    init(_ fields: Fields) throws(FormatError) {
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
            channel: fields.has("channel") ? try fields.name("channel") : nil
        )
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

/// Which version of each patch this device runs: immutable, numbered here, made from one verified list.
///
/// All patches of a selection are activated together.
package struct Selection: Hashable, Sendable {
    package let number: Int
    /// The channel role's version that it was made from.
    package let roleVersion: Int
    /// By id, in ascending order.
    package let patches: [InstalledPatch]
    /// The keys that its entries were verified with.
    package let entryKeys: EntryKeys
    /// From when on it may run, while it waits.
    package let activates: ActivationTime

    package init(
        number: Int,
        roleVersion: Int,
        patches: [InstalledPatch],
        entryKeys: EntryKeys,
        activates: ActivationTime = .atReload
    ) {
        self.activates = activates
        self.number = number
        self.roleVersion = roleVersion
        self.patches = patches.sorted { $0.patchID < $1.patchID }
        self.entryKeys = entryKeys
    }

    package var contents: Set<PatchContent> { Set(patches.map(\.content)) }

    package subscript(id: PatchID) -> InstalledPatch? {
        patches.first { $0.patchID == id }
    }

    /// The patches that `other` does not have at all: they were withdrawn.
    func patchIDs(missingFrom other: Selection) -> [PatchID] { patches.map(\.patchID).filter { other[$0] == nil } }

    /// The same selection without the patches that `other` does not have at all.
    ///
    /// Nil when nothing is left.
    func withoutPatchesMissing(from other: Selection) -> Selection? {
        let kept = patches.filter { other[$0.patchID] != nil }
        guard !kept.isEmpty else { return nil }
        return kept.count == patches.count
            ? self : Selection(number: number, roleVersion: roleVersion, patches: kept, entryKeys: entryKeys)
    }

    /// The same, to become active at another moment.
    func activating(_ time: ActivationTime) -> Selection {
        Selection(number: number, roleVersion: roleVersion, patches: patches, entryKeys: entryKeys, activates: time)
    }

    /// The same selection in the state of `channel`, where it stood in that of `other` so far.
    func told(in channel: ChannelName, from other: ChannelName) -> Selection {
        Selection(
            number: number,
            roleVersion: roleVersion,
            patches: patches.map { $0.told(in: channel, from: other) },
            entryKeys: entryKeys,
            activates: activates
        )
    }

    /// Whether a list of this very channel made all of it.
    var isOfThisChannel: Bool { patches.allSatisfy { $0.channel == nil } }

    var json: JSON {
        .fields([
            ("number", .integer(number)), ("roleVersion", .integer(roleVersion)),
            ("patches", .array(patches.map(\.json))), (EntryKeys.member, entryKeys.json),
            ("activates", activates == .atReload ? nil : .text(activates.rawValue)),
        ])
    }

    init(_ fields: Fields) throws(FormatError) {
        var patches: [InstalledPatch] = []
        for (index, value) in try fields.array("patches", limit: Limits.patchesInList).enumerated() {
            patches.append(
                try InstalledPatch(try Fields(value, of: fields.document, at: "\(fields.at("patches"))[\(index)]"))
            )
        }
        self.init(
            number: try fields.integer("number", in: 1...(1 << 53 - 1)),
            roleVersion: try fields.integer("roleVersion", in: 1...(1 << 53 - 1)),
            patches: patches,
            entryKeys: try EntryKeys(fields),
            activates: try fields.optionalString("activates").flatMap(ActivationTime.init(rawValue:)) ?? .atReload
        )
    }
}
