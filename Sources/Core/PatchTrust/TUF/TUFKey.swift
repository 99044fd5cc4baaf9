package import PatchCrypto
package import PatchFormat

/// A key in TUF metadata.
///
/// A key of an unknown type is kept, but never verifies a signature.
package struct TUFKey: Hashable, Sendable {
    /// The whole object, including unknown members: the key id covers it.
    package let json: JSON
    package let scheme: SignatureScheme?
    package let publicKey: PublicKey?

    package init(_ json: JSON) {
        self.json = json
        func text(_ value: JSON?) -> String? {
            guard case .string(let text) = value else { return nil }
            return text.text
        }
        let scheme = text(json["scheme"]).flatMap(SignatureScheme.init(rawValue:))
        let value = text(json["keyval"]?["public"]) ?? ""
        self.scheme = scheme
        switch (text(json["keytype"]), scheme) {
        case ("rsa", .rsaPSS), ("rsa", .rsaPKCS1v15), ("ecdsa", .ecdsaP256), ("ecdsa-sha2-nistp256", .ecdsaP256):
            publicKey = try? PublicKey(pem: value)
        case ("ed25519", .ed25519):
            publicKey = try? PublicKey(ed25519: Hex.bytes(value) ?? [])
        default:
            publicKey = nil
        }
    }

    /// An RSA key in Patchline's form.
    package init(rsa key: PublicKey, scheme: SignatureScheme) {
        self.init(
            .fields([
                ("keytype", .text("rsa")), ("scheme", .text(scheme.rawValue)),
                ("keyval", .fields([("public", .text(key.pem))])),
            ])
        )
    }

    /// A role's key in Patchline's form, with the scheme of its kind.
    package init(_ key: PublicKey) {
        let (type, value) =
            switch key.kind {
            case .rsa: ("rsa", key.pem)
            case .ed25519: ("ed25519", Hex.text(key.ed25519Bytes ?? []))
            case .p256: ("ecdsa", key.pem)
            }
        self.init(
            .fields([
                ("keytype", .text(type)), ("scheme", .text(key.kind.roleScheme.rawValue)),
                ("keyval", .fields([("public", .text(value))])),
            ])
        )
    }

    /// SHA-256 of the canonical JSON of the whole key object (TUF 4.2 KEYID).
    package var id: SHA256Digest { SHA256Digest(of: json.canonicalBytes) }

    /// Equal if their ids are, independently of the order of their members.
    package static func == (left: TUFKey, right: TUFKey) -> Bool {
        left.json.canonicalBytes == right.json.canonicalBytes
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(json.canonicalBytes)
    }

    func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        guard let publicKey, let scheme else { return false }
        return publicKey.verifies(signature, over: message, scheme: scheme)
    }
}

/// The keys that may sign for a role.
package struct RoleKeys: Hashable, Sendable {
    package let threshold: Int
    /// The keys by id, without ids that have no listed key, because they cannot sign.
    package let keys: [SHA256Digest: TUFKey]

    package init(threshold: Int, keys: [SHA256Digest: TUFKey]) {
        self.threshold = threshold
        self.keys = keys
    }

    /// Returns how many distinct keys, by id and by material, signed `envelope`.
    package func validSignatures(on envelope: Envelope) -> Int {
        validSigners(on: envelope).count
    }

    /// The ids of these keys, in the order of the signatures.
    package func validSigners(on envelope: Envelope) -> [SHA256Digest] {
        let message = envelope.signed.canonicalBytes
        var signers: [SHA256Digest] = []
        var material: Set<SHA256Digest> = []
        for signature in envelope.signatures {
            guard let id = SHA256Digest(hex: signature.keyID), let key = keys[id], let publicKey = key.publicKey,
                !material.contains(publicKey.material), key.verifies(signature.bytes, over: message)
            else { continue }
            material.insert(publicKey.material)
            signers.append(id)
        }
        return signers
    }

    package func check(_ envelope: Envelope, role: String) throws(TrustError) {
        let valid = validSignatures(on: envelope)
        guard valid >= threshold else { throw .threshold(role: role, valid: valid, needed: threshold) }
    }
}

extension Fields {
    /// Reads the `keys` of a root or of delegations.
    ///
    /// Each id must be the digest of its key.
    func keys(_ name: String) throws(FormatError) -> [SHA256Digest: TUFKey] {
        let fields = try members(of: name, limit: Limits.keysInRole)
        var keys: [SHA256Digest: TUFKey] = [:]
        for member in fields.object.members {
            let key = TUFKey(member.value)
            let id = key.id
            guard member.key.text == id.hex else {
                throw fields.broken(member.key.text, "must be the SHA-256 of its key's canonical JSON")
            }
            keys[id] = key
        }
        return keys
    }

    /// Reads `keyids` and `threshold` of a role, and looks up the ids among the listed keys.
    func roleKeys(among keys: [SHA256Digest: TUFKey]) throws(FormatError) -> RoleKeys {
        let ids = try strings("keyids", limit: 1_000)
        guard Set(ids.map { ExactString($0) }).count == ids.count else {
            throw broken("keyids", "must not name a key twice")
        }
        var found: [SHA256Digest: TUFKey] = [:]
        for id in ids.compactMap({ SHA256Digest(hex: $0) }) { found[id] = keys[id] }
        return RoleKeys(threshold: try integer("threshold", in: 1...1_000), keys: found)
    }
}
