package import PatchFormat
import PatchTrust

extension TrustDraft {
    private static let members: Set<ExactString> = ["format", "app", "base", "root", "targets"]

    /// Reads a draft.
    ///
    /// Unknown members are rejected, because writing the draft again would lose them.
    package init(_ bytes: [UInt8], named document: String = "trust draft") throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: Limits.trustDraft), of: document)
        try fields.constant("format", Self.format)
        if let unknown = fields.object.members.first(where: { !Self.members.contains($0.key) }) {
            throw fields.broken(unknown.key.text, "is not known in \(Self.format)")
        }
        app = try fields.name("app")
        base = fields.object["base"] == .null ? nil : try Base(try fields.fields("base"))
        root = try fields.envelope("root", limit: Limits.root)
        targets = try fields.envelope("targets", limit: Limits.targetsRole)
        guard root != nil || targets != nil else { throw fields.broken("root", "or targets is needed") }
        guard base != nil || root != nil && targets != nil else {
            throw fields.broken("base", "must not be null unless both root and targets are present")
        }
    }

    package var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("app", .text(app.text)), ("base", base?.json ?? .null),
            ("root", root?.json), ("targets", targets?.json),
        ])
    }

    package var fileBytes: [UInt8] { json.fileBytes }
}

extension TrustDraft.Base {
    fileprivate init(_ fields: Fields) throws(FormatError) {
        root = try TrustDraft.Version(try fields.fields("root"))
        targets = try TrustDraft.Version(try fields.fields("targets"))
    }

    fileprivate var json: JSON { .fields([("root", root.json), ("targets", targets.json)]) }
}

extension TrustDraft.Version {
    fileprivate init(_ fields: Fields) throws(FormatError) {
        version = try fields.integer("version", in: 1...(1 << 53 - 2))
        sha256 = try fields.digest("sha256")
    }

    fileprivate var json: JSON { .fields([("version", .integer(version)), ("sha256", .text(sha256.hex))]) }
}

extension Fields {
    /// A role inside the draft, with the size limit of its own file.
    fileprivate func envelope(_ role: String, limit: Int) throws(FormatError) -> Envelope? {
        guard let json = object[role] else { return nil }
        let envelope = try Envelope(json, role: role)
        guard envelope.fileBytes.count <= limit else { throw broken(role, "is over \(limit) bytes") }
        return envelope
    }
}
