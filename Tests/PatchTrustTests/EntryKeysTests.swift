import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("Entry keys")
struct EntryKeysTests {
    static func row(
        pem: String,
        keytype: String = "rsa",
        scheme: String = "rsa-pkcs1v15-sha256",
        usage: String = "entry"
    ) -> (id: String, json: JSON) {
        let bare: [(String, JSON?)] = [
            ("keytype", .text(keytype)), ("scheme", .text(scheme)), ("keyval", .fields([("public", .text(pem))])),
        ]
        return (SHA256Digest(of: JSON.fields(bare).canonicalBytes).hex, .fields(bare + [("usage", .text(usage))]))
    }

    static func read(_ rows: [(id: String, json: JSON)]) throws -> EntryKeys {
        let keys = JSON.fields(rows.map { ($0.id, Optional($0.json)) })
        return try EntryKeys(try Fields(.fields([("x-patchline-entry-keys", keys)]), of: "role"))
    }

    @Test func `of a role are those of its vector`() throws {
        let role = try TargetsRole(
            try Envelope(try Vectors.bytes("tuf/2.production.json"), role: "production", limit: 1_000_000),
            name: "production"
        )
        #expect(role.entryKeys == EntryKeys([try TestingKey.entry.key.publicKey]))
        #expect(
            role.entryKeys.keys.keys.map(\.hex) == ["3b2388578e995788d99a5073361c24de230c9b1c8a0888d97d78d7d25e530835"]
        )
    }

    @Test func `read back as they were written, also with a PEM that would be written otherwise here`() throws {
        let pem = try TestingKey.entry.publicPEM
        for text in [pem, String(pem.dropLast()), pem.replacing("\n", with: "\r\n")] {
            let keys = try Self.read([Self.row(pem: text)])
            #expect(keys.keys.count == 1)
            #expect(try EntryKeys(try Fields(.fields([("x-patchline-entry-keys", keys.json)]), of: "role")) == keys)
        }
        let both = try Self.read([Self.row(pem: pem)]).merged(
            with: try Self.read([Self.row(pem: try TestingKey.other.publicPEM)])
        )
        #expect(both.keys.count == 2)
        #expect(try EntryKeys(try Fields(.fields([("x-patchline-entry-keys", both.json)]), of: "role")) == both)
    }

    @Test func `have the digest of keytype, keyval and scheme as their id, and no other`() throws {
        let row = Self.row(pem: try TestingKey.entry.publicPEM)
        let flipped = (row.id.hasPrefix("0") ? "1" : "0") + row.id.dropFirst()
        for id in [flipped, row.id.uppercased(), String(row.id.dropLast()), ""] {
            #expect(
                throws: FormatError(
                    "role",
                    field: "x-patchline-entry-keys.\(id)",
                    rule: "must be the SHA-256 of its key's canonical JSON"
                )
            ) {
                try Self.read([(id, row.json)])
            }
        }
    }

    @Test(
        arguments: [
            ("keytype", JSON.text("ecdsa"), "keytype", "must be rsa"),
            ("scheme", .text("rsassa-pss-sha256"), "scheme", "must be rsa-pkcs1v15-sha256"),
            ("usage", .integer(1), "usage", "must be a string"), ("keyval", .text(""), "keyval", "must be an object"),
        ] as [(String, JSON, String, String)]
    )
    func `are refused by field and rule`(_ key: String, value: JSON, field: String, rule: String) throws {
        let row = Self.row(pem: try TestingKey.entry.publicPEM)
        #expect(throws: FormatError("role", field: "x-patchline-entry-keys.\(row.id).\(field)", rule: rule)) {
            try Self.read([(row.id, row.json.setting(key, to: value))])
        }
    }

    @Test func `are refused when they are too small or no keys`() throws {
        for (pem, rule) in [
            (try TestingKey.small.publicPEM, "has 1024 bits; RSA keys need at least 2,048"),
            ("hello", "is not a PEM key"),
            (String(decoding: try TestingKey.entry.key.unencryptedPEM(), as: UTF8.self), "is not a PEM key"),
        ] {
            let row = Self.row(pem: pem)
            #expect(throws: FormatError("role", field: "x-patchline-entry-keys.\(row.id).keyval.public", rule: rule)) {
                try Self.read([row])
            }
        }
    }

    @Test func `for another use are passed over`() throws {
        let rows = [
            Self.row(pem: try TestingKey.entry.publicPEM),
            Self.row(pem: try TestingKey.other.publicPEM, usage: "jspatch"),
        ]
        #expect(try Self.read(rows) == (try Self.read([rows[0]])))
    }

    @Test func `are none where the role lists none`() throws {
        let role = try TargetsRole(
            try Envelope(try Vectors.bytes("tuf/12.dial.json"), role: "dial", limit: 1_000_000),
            name: "dial"
        )
        #expect(role.entryKeys == .none)
    }
}
