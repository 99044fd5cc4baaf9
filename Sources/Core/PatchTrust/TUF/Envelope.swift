package import PatchCrypto
package import PatchFormat

/// A parsed signed document.
///
/// Its content is not trusted until it is checked with a delegator's keys.
package struct Envelope: Sendable {
    package struct Signature: Hashable, Sendable {
        package let keyID: String
        package let bytes: [UInt8]

        package init(keyID: String, bytes: [UInt8]) {
            self.keyID = keyID
            self.bytes = bytes
        }
    }

    package let role: String
    package let signed: JSON
    package private(set) var signatures: [Signature]

    /// Creates an unsigned document.
    package init(role: String, signing signed: JSON) {
        self.role = role
        self.signed = signed
        signatures = []
    }

    /// Reads a role file.
    ///
    /// A duplicate key id rejects the file. A signature that is not hexadecimal is ignored.
    package init(_ bytes: [UInt8], role: String, limit: Int) throws(FormatError) {
        try self.init(try JSON.document(bytes, named: role, limit: limit), role: role)
    }

    /// Reads a role inside another document.
    package init(_ json: JSON, role: String) throws(FormatError) {
        let fields = try Fields(json, of: role)
        var signatures: [Signature] = []
        var seen: Set<ExactString> = []
        for (index, value) in try fields.array("signatures", limit: Limits.signaturesOnRole).enumerated() {
            let row = try Fields(value, of: role, at: "signatures[\(index)]")
            let id = try row.string("keyid")
            guard seen.insert(ExactString(id)).inserted else { throw row.broken("keyid", "is listed twice") }
            signatures.append(Signature(keyID: id, bytes: Hex.bytes(try row.string("sig")) ?? []))
        }
        self.role = role
        self.signed = .object(try fields.fields("signed").object)
        self.signatures = signatures
    }

    /// Adds one signature, replacing an older one by the same key.
    ///
    /// - Parameter scheme: the scheme that the role specifies for the key, or nil for Patchline's default scheme for this kind of
    ///   key.
    package mutating func sign(with key: PrivateKey, id: SHA256Digest, scheme: SignatureScheme? = nil)
        throws(KeyError)
    {
        let scheme = scheme ?? key.publicKey.kind.roleScheme
        add(Signature(keyID: id.hex, bytes: try key.sign(signed.canonicalBytes, scheme: scheme)))
    }

    /// Adds another signer's signature.
    package mutating func add(_ signature: Signature) {
        signatures.removeAll { $0.keyID == signature.keyID }
        signatures.append(signature)
        signatures.sort { $0.keyID < $1.keyID }
    }

    package var json: JSON {
        .fields([
            ("signed", signed),
            (
                "signatures",
                .array(signatures.map { .fields([("keyid", .text($0.keyID)), ("sig", .text(Hex.text($0.bytes)))]) })
            ),
        ])
    }

    package var fileBytes: [UInt8] { json.fileBytes }

    /// Identifies the role independently of its signatures: SHA-256 of the canonical JSON of its signed part.
    package var identity: SHA256Digest { SHA256Digest(of: signed.canonicalBytes) }
}

/// The fields that every role has.
package struct RoleHeader: Hashable, Sendable {
    package static let appMember = "x-patchline-app"

    package let version: Int
    package let expires: UTCTime
    /// The app that the role is for; Patchline's own member.
    ///
    /// Nil in roles that other TUF tools wrote, or Patchline before it named the app in every role.
    package let app: AppID?

    init(_ fields: Fields, type: String) throws(FormatError) {
        try fields.constant("_type", type)
        let spec = try fields.string("spec_version").split(separator: ".", omittingEmptySubsequences: false)
        guard spec.count >= 2, spec[0] == "1",
            spec.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { throw fields.broken("spec_version", "must be 1.x.y") }
        version = try fields.integer("version", in: 1...(1 << 53 - 1))
        expires = try fields.time("expires")
        app = fields.has(Self.appMember) ? try fields.name(Self.appMember) : nil
    }

    /// Rejects a role that names another app.
    ///
    /// A key may sign for two apps. Without this rule, an attacker on the network could answer one app's device with the other
    /// app's timestamp and snapshot. Their higher versions would keep the device from its own ones.
    package func check(for expected: AppID?, role: String) throws(TrustError) {
        guard let app, let expected, app != expected else { return }
        throw .foreign(document: role, field: "app", found: app.text, expected: expected.text)
    }
}
