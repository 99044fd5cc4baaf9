import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("A threshold")
struct ThresholdTests {
    static let document = JSON.fields([("a", .integer(1))])

    /// A role whose keys are these, whatever their ids.
    static func role(_ keys: [TUFKey], threshold: Int = 2) -> RoleKeys {
        RoleKeys(threshold: threshold, keys: Dictionary(keys.map { ($0.id, $0) }) { first, _ in first })
    }

    /// Signed by `signers`, each under the id given beside it.
    static func envelope(_ signers: [(TestingKey, TUFKey)]) throws -> Envelope {
        var envelope = Envelope(role: "x", signing: document)
        for (key, tuf) in signers { try envelope.sign(with: try key.key, id: tuf.id, scheme: tuf.scheme ?? .rsaPSS) }
        return envelope
    }

    static func key(
        _ key: TestingKey,
        pem: (String) -> String = { $0 },
        scheme: String = "rsassa-pss-sha256",
        extra: JSON? = nil
    ) throws -> TUFKey {
        TUFKey(
            .fields([
                ("keytype", .text("rsa")), ("scheme", .text(scheme)),
                ("keyval", .fields([("public", .text(pem(try key.publicPEM)))])), ("x-note", extra),
            ])
        )
    }

    @Test func `counts distinct keys`() throws {
        let (one, two) = (try Self.key(.production), try Self.key(.second))
        let role = Self.role([one, two])
        #expect(try role.validSignatures(on: Self.envelope([(.production, one), (.second, two)])) == 2)
        #expect(try role.validSignatures(on: Self.envelope([(.production, one)])) == 1)
        #expect(throws: TrustError.threshold(role: "x", valid: 1, needed: 2)) {
            try role.check(try Self.envelope([(.production, one)]), role: "x")
        }
        #expect(throws: Never.self) {
            try role.check(try Self.envelope([(.production, one), (.second, two)]), role: "x")
        }
    }

    @Test func `counts one key once, under two spellings of its PEM, two schemes or two notes`() throws {
        let plain = try Self.key(.production)
        for other in [
            try Self.key(.production, pem: { $0.replacing("\n", with: "\r\n") }),
            try Self.key(.production, pem: { String($0.dropLast()) }),
            try Self.key(.production, scheme: "rsa-pkcs1v15-sha256"), try Self.key(.production, extra: .bool(true)),
        ] {
            #expect(other.id != plain.id)
            let envelope = try Self.envelope([(.production, plain), (.production, other)])
            #expect(envelope.signatures.count == 2)
            #expect(Self.role([plain, other]).validSignatures(on: envelope) == 1)
        }
    }

    @Test func `takes the good signature of a key that has a bad one under another id`() throws {
        let (plain, other) = (try Self.key(.production), try Self.key(.production, extra: .bool(true)))
        for (bad, good) in [(plain, other), (other, plain)] {
            var envelope = try Self.envelope([(.production, good)])
            envelope.add(.init(keyID: bad.id.hex, bytes: [UInt8](repeating: 0, count: 384)))
            #expect(Self.role([plain, other]).validSignatures(on: envelope) == 1)
        }
    }

    @Test func `does not count signatures that are empty, wrong or by unlisted keys`() throws {
        let (one, two, other) = (try Self.key(.production), try Self.key(.second), try Self.key(.other))
        var envelope = try Self.envelope([(.production, one), (.other, other)])
        envelope.add(.init(keyID: two.id.hex, bytes: []))
        envelope.add(.init(keyID: "not hex", bytes: [1]))
        #expect(Self.role([one, two]).validSignatures(on: envelope) == 1)
        envelope.add(.init(keyID: two.id.hex, bytes: envelope.signatures.first { $0.keyID == one.id.hex }?.bytes ?? []))
        #expect(Self.role([one, two]).validSignatures(on: envelope) == 1)
    }

    @Test func `does not count a signature over another document`() throws {
        let one = try Self.key(.production)
        var other = Envelope(role: "x", signing: .fields([("a", .integer(2))]))
        for signature in try Self.envelope([(.production, one)]).signatures { other.add(signature) }
        #expect(Self.role([one]).validSignatures(on: other) == 0)
    }

    @Test func `does not count a key of an unknown sort`() throws {
        let unknown = TUFKey(
            .fields([
                ("keytype", .text("sphincs")), ("scheme", .text("sphincs-128")),
                ("keyval", .fields([("public", .text("00"))])),
            ])
        )
        let one = try Self.key(.production)
        var envelope = try Self.envelope([(.production, one)])
        envelope.add(.init(keyID: unknown.id.hex, bytes: [1, 2, 3]))
        #expect(Self.role([one, unknown]).validSignatures(on: envelope) == 1)
    }
}

@Suite("An envelope")
struct EnvelopeTests {
    static func parse(_ text: String) throws -> Envelope {
        try Envelope(Array(text.utf8), role: "root", limit: 10_000)
    }

    @Test func `refuses a key id that stands twice`() {
        #expect(throws: FormatError("root", field: "signatures[1].keyid", rule: "is listed twice")) {
            try Self.parse(#"{"signatures":[{"keyid":"a","sig":""},{"keyid":"a","sig":"00"}],"signed":{}}"#)
        }
    }

    @Test(arguments: [
        (#"{"signed":{}}"#, "signatures", "must be an array"),
        (#"{"signatures":[],"signed":[]}"#, "signed", "must be an object"),
        (#"{"signatures":[]}"#, "signed", "must be an object"),
        (#"{"signatures":[1],"signed":{}}"#, "signatures[0]", "must be an object"),
        (#"{"signatures":[{"sig":""}],"signed":{}}"#, "signatures[0].keyid", "must be a string"),
        (#"{"signatures":[{"keyid":"a"}],"signed":{}}"#, "signatures[0].sig", "must be a string"),
        (#"[]"#, "", "must be an object"),
        (#"{"signatures":[],"signatures":[],"signed":{}}"#, "", "has a key twice in one object (byte 17)"),
    ])
    func `is refused by field and rule`(_ text: String, field: String, rule: String) {
        #expect(throws: FormatError("root", field: field, rule: rule)) { try Self.parse(text) }
    }

    @Test func `takes a signature that is empty or no hex as none`() throws {
        let envelope = try Self.parse(
            #"{"signatures":[{"keyid":"a","sig":""},{"keyid":"b","sig":"XY"}],"signed":{"z":1,"a":2}}"#
        )
        #expect(envelope.signatures.map(\.bytes) == [[], []])
    }

    @Test func `keeps members that this reader does not know, so that what was signed stays signed`() throws {
        let signed = try World.timestamp(file: RoleFile(version: 1, length: nil, sha256: nil)).signed.setting(
            "x-new",
            to: .fields([("z", .null), ("a", .integer(1))])
        )
        let bytes = try Envelope(role: "timestamp", signing: signed).signed(by: [.online]).fileBytes
        var trusted = try World().withRoot()
        #expect(try trusted.updateTimestamp(bytes) == .taken)
        #expect(try Envelope(bytes, role: "timestamp", limit: 10_000).fileBytes == bytes)
    }

    @Test func `replaces an older signature by the same key and sorts by key id`() throws {
        var envelope = Envelope(role: "x", signing: .fields([]))
        for (id, byte) in [("b", 1), ("a", 2), ("b", 3)] as [(String, UInt8)] {
            envelope.add(.init(keyID: id, bytes: [byte]))
        }
        #expect(envelope.signatures == [.init(keyID: "a", bytes: [2]), .init(keyID: "b", bytes: [3])])
    }
}
