package import PatchCrypto
package import PatchFormat

/// The keys that may sign entries of a channel: `x-patchline-entry-keys` of its role.
package struct EntryKeys: Hashable, Sendable {
    package static let member = "x-patchline-entry-keys"
    package static let none = EntryKeys([:], rows: [:])

    package let keys: [SHA256Digest: PublicKey]
    /// Each key object as it was read.
    ///
    /// Its id covers the spelling of its PEM, which may differ from Patchline's own.
    private let rows: [SHA256Digest: JSON]

    private init(_ keys: [SHA256Digest: PublicKey], rows: [SHA256Digest: JSON]) {
        self.keys = keys
        self.rows = rows
    }

    package init(_ keys: [PublicKey]) {
        var rows: [SHA256Digest: JSON] = [:]
        for key in keys {
            guard var row = TUFKey(rsa: key, scheme: .rsaPKCS1v15).json.object else { continue }
            row["usage"] = .text("entry")
            rows[Self.id(of: key)] = .object(row)
        }
        self.init(Dictionary(keys.map { (Self.id(of: $0), $0) }) { first, _ in first }, rows: rows)
    }

    /// SHA-256 of the canonical JSON of {keytype, keyval, scheme}.
    ///
    /// It does not cover the member `usage` beside them.
    package static func id(of key: PublicKey) -> SHA256Digest {
        TUFKey(rsa: key, scheme: .rsaPKCS1v15).id
    }

    /// Reads the member of that name in `parent`.
    ///
    /// Keys for another use are ignored.
    package init(_ parent: Fields) throws(FormatError) {
        let fields = try parent.members(of: Self.member, limit: Limits.entryKeys)
        var keys: [SHA256Digest: PublicKey] = [:]
        var rows: [SHA256Digest: JSON] = [:]
        for member in fields.object.members {
            let row = try fields.fields(of: member)
            guard try row.string("usage") == "entry" else { continue }
            try row.constant("keytype", "rsa")
            try row.constant("scheme", Statement.scheme)
            let pem = try row.fields("keyval").string("public")
            let bare = JSON.fields([
                ("keytype", row.object["keytype"]), ("scheme", row.object["scheme"]), ("keyval", row.object["keyval"]),
            ])
            guard let id = SHA256Digest(hex: member.key.text), id == SHA256Digest(of: bare.canonicalBytes) else {
                throw fields.broken(member.key.text, "must be the SHA-256 of its key's canonical JSON")
            }
            do throws(KeyError) {
                keys[id] = try PublicKey(pem: pem)
                rows[id] = member.value
            } catch {
                throw row.broken("keyval.public", error.description)
            }
        }
        self.init(keys, rows: rows)
    }

    package var json: JSON {
        .fields(rows.sorted { $0.key < $1.key }.map { ($0.key.hex, $0.value) })
    }

    /// The JSON of these keys together with the keys for JSPatch.
    func json(with jspatch: JSPatchKeys) -> JSON {
        let all = rows.map { ($0.key, $0.value) } + jspatch.rows
        return .fields(all.sorted { $0.0 < $1.0 }.map { ($0.0.hex, $0.1) })
    }

    /// Returns these keys and the older ones that installed entries still depend on.
    package func merged(with older: EntryKeys?) -> EntryKeys {
        guard let older else { return self }
        return EntryKeys(keys.merging(older.keys) { new, _ in new }, rows: rows.merging(older.rows) { new, _ in new })
    }

    /// Ids suffice, because they cover the rows.
    package static func == (left: EntryKeys, right: EntryKeys) -> Bool {
        left.keys == right.keys
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(keys)
    }

    func has(_ id: SHA256Digest) -> Bool { keys[id] != nil }

    /// Checks one entry signature over its statement.
    package func check(_ signature: EntrySignature, over statement: [UInt8], entry: String) throws(EntryFault) {
        guard let key = keys[signature.keyID] else {
            throw EntryFault(entry: entry, rule: .unknownKey(signature.keyID))
        }
        guard key.verifies(signature.bytes, over: statement, scheme: .rsaPKCS1v15) else {
            throw EntryFault(entry: entry, rule: .signature)
        }
    }
}
