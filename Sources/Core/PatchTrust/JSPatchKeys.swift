package import PatchCrypto
package import PatchFormat

/// The keys marked for JSPatch signatures among `x-patchline-entry-keys` of a channel's role.
///
/// Devices ignore them, because a list's `jspatch` members are for other readers.
package struct JSPatchKeys: Hashable, Sendable {
    package static let none = JSPatchKeys([])

    package let keys: [SHA256Digest: PublicKey]

    package init(_ keys: [PublicKey]) {
        self.keys = Dictionary(keys.map { (JSPatchSignature.keyID(of: $0), $0) }) { first, _ in first }
    }

    /// Reads them from a channel's role.
    package init(_ role: Envelope) throws(FormatError) {
        let signed = try Fields(role.signed, of: role.role)
        guard signed.has(EntryKeys.member) else {
            self = .none
            return
        }
        let fields = try signed.members(of: EntryKeys.member, limit: Limits.entryKeys)
        var found: [PublicKey] = []
        for member in fields.object.members {
            let row = try fields.fields(of: member)
            guard try row.string("usage") == JSPatchSignature.usage else { continue }
            try row.constant("keytype", "rsa")
            try row.constant("scheme", JSPatchSignature.scheme)
            let pem = try row.fields("keyval").string("public")
            let key: PublicKey
            do throws(KeyError) { key = try PublicKey(pem: pem) } catch {
                throw row.broken("keyval.public", error.description)
            }
            guard JSPatchSignature.keyID(of: key).hex == member.key.text else {
                throw fields.broken(member.key.text, "must be the SHA-256 of its key's canonical JSON")
            }
            found.append(key)
        }
        self.init(found)
    }

    /// Checks an entry's signatures in JSPatch's form, if it has them.
    package func check(_ entry: PatchEntry) throws(EntryFault) {
        guard let form = entry.jspatch else { return }
        let name = "\(entry.patchID) \(entry.version)"
        guard let key = keys[form.keyID] else { throw EntryFault(entry: name, rule: .unknownKey(form.keyID)) }
        do throws(JSPatchError) {
            let key = try JSPatchPublicKey(key)
            try key.check(form.md5, digest: .md5, of: entry.fingerprint)
            try key.check(form.sha1, digest: .sha1, of: entry.fingerprint)
        } catch { throw EntryFault(entry: name, rule: .unreadable("JSPatch form: \(error)")) }
    }

    /// Rows for `x-patchline-entry-keys`, with their key ids.
    var rows: [(SHA256Digest, JSON)] {
        keys.map { id, key in
            var row = JSPatchSignature.keyObject(key).object ?? JSONObject()
            row["usage"] = .text(JSPatchSignature.usage)
            return (id, .object(row))
        }
    }
}
