import FoundationEssentials
import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

/// What whoever sends a key could keep a thread busy with, for hours.
@Suite("A key made to cost")
struct CostlyKeyTests {
    /// As openssl writes one, but for what it holds: nobody gets as far as that.
    private static func key(_ derivation: String, _ parameters: String) throws -> [UInt8] {
        let bench = try Bench()
        let text = """
            asn1=SEQUENCE:key
            [key]
            algorithm=SEQUENCE:algorithm
            data=FORMAT:HEX,OCTETSTRING:\(String(repeating: "00", count: 1_024))
            [algorithm]
            id=OID:PBES2
            parameters=SEQUENCE:both
            [both]
            derivation=SEQUENCE:derivation
            cipher=SEQUENCE:cipher
            [derivation]
            id=OID:\(derivation)
            parameters=SEQUENCE:parameters
            [parameters]
            salt=FORMAT:HEX,OCTETSTRING:0011223344556677
            \(parameters)
            [cipher]
            id=OID:aes-256-cbc
            iv=FORMAT:HEX,OCTETSTRING:\(String(repeating: "00", count: 16))
            """
        try bench.write(Array("\(text)\n".utf8), to: "asn1")
        try bench.run("openssl asn1parse -genconf asn1 -noout -out der")
        let body = try bench.run("openssl base64 -in der")
        return Array("-----BEGIN ENCRYPTED PRIVATE KEY-----\n\(body)-----END ENCRYPTED PRIVATE KEY-----\n".utf8)
    }

    @Test(
        .timeLimit(.minutes(20)),
        arguments: [
            ("2147483647", "2147483647"), ("4000001", "4000001"), ("-1", "18446744073709551615"),
            ("0x1FFFFFFFFFFFFFFFFFFFF", "18446744073709551615"),
        ]
    )
    func `that asks for more than four million rounds is not opened`(_ rounds: String, said: String) throws {
        let pem = try Self.key("PBKDF2", "rounds=INTEGER:\(rounds)")
        let what = "\(said) rounds of key derivation; the limit is 4000000"
        #expect(throws: KeyError.tooMuchWork(what)) { try PrivateKey(pem: pem, passphrase: "secret") }
        #expect(throws: KeyError.needsPassphrase) { try PrivateKey(pem: pem, passphrase: nil) }
    }

    @Test(.timeLimit(.minutes(20))) func `that asks for it in many blocks is not opened`() throws {
        let pem = try Self.key("PBKDF2", "rounds=INTEGER:2000001")
        let what = "4000002 rounds of key derivation; the limit is 4000000"
        #expect(throws: KeyError.tooMuchWork(what)) { try PrivateKey(pem: pem + pem, passphrase: "no") }
        let hidden = String(decoding: pem, as: UTF8.self).replacing("ENCRYPTED PRIVATE KEY", with: "PRIVATE KEY")
        #expect(throws: KeyError.tooMuchWork(what)) {
            try PrivateKey(pem: pem + Array(hidden.utf8), passphrase: "no")
        }
    }

    @Test(
        .timeLimit(.minutes(20)),
        arguments: [
            (16_384, 8, 17, "scrypt over 2228224 blocks; the limit is 2097152"),
            (16_384, 36, 1, "scrypt with 75497472 bytes of memory; the limit is 67108864"),
            (16_384, 8, 2_147_483_647, "scrypt over 281474976579584 blocks; the limit is 2097152"),
        ]
    )
    func `that asks scrypt for more than a moment or 64 MiB is not opened`(
        _ cost: Int,
        block: Int,
        parallel: Int,
        what: String
    ) throws {
        let numbers = "cost=INTEGER:\(cost)\nblock=INTEGER:\(block)\nparallel=INTEGER:\(parallel)"
        let pem = try Self.key("id-scrypt", numbers)
        #expect(throws: KeyError.tooMuchWork(what)) { try PrivateKey(pem: pem, passphrase: "secret") }
    }

    @Test func `that was encrypted with a hundred thousand rounds, or by scrypt, opens`() throws {
        let bench = try Bench()
        for option in ["-v2 aes-256-cbc -iter 100000", "-scrypt", "-v1 PBE-SHA1-3DES -iter 2048"] {
            let made = "openssl pkcs8 -topk8 \(option) -passout pass:secret -in '\(TestingKey.entry.file.path)'"
            try bench.run("\(made) -out key")
            let key = try PrivateKey(pem: try bench.read("key"), passphrase: "secret")
            #expect(key.publicKey == (try TestingKey.entry.key.publicKey), "\(option)")
        }
    }

    @Test func `of more than 8,192 bits is refused, public or private`() throws {
        let bench = try Bench()
        // A modulus of 8,193 bits, as no factor of it is ever asked for.
        try bench.write(Array(Self.publicKey(bits: 8_193, exponent: "65537").utf8), to: "asn1")
        try bench.run("openssl asn1parse -genconf asn1 -noout -out der")
        let pem = try bench.run("openssl pkey -pubin -inform DER -in der -pubout")
        #expect(throws: KeyError.tooLarge(bits: 8_193)) { try PublicKey(pem: pem) }
    }

    @Test(arguments: ["4294967297", "0x" + String(repeating: "F", count: 700)])
    func `with an exponent of more than 32 bits is refused`(_ exponent: String) throws {
        let bench = try Bench()
        try bench.write(Array(Self.publicKey(bits: 3_072, exponent: exponent).utf8), to: "asn1")
        try bench.run("openssl asn1parse -genconf asn1 -noout -out der")
        let pem = try bench.run("openssl pkey -pubin -inform DER -in der -pubout")
        #expect(throws: KeyError.longExponent) { try PublicKey(pem: pem) }
        #expect(throws: JSPatchError.tooCostly) { try JSPatchPublicKey(pem: pem) }
    }

    private static func publicKey(bits: Int, exponent: String) -> String {
        let modulus = "0x" + (bits % 4 == 1 ? "1" : "") + String(repeating: "F", count: bits / 4)
        return """
            asn1=SEQUENCE:spki
            [spki]
            algorithm=SEQUENCE:algorithm
            key=BITWRAP,SEQUENCE:key
            [algorithm]
            id=OID:rsaEncryption
            parameters=NULL
            [key]
            n=INTEGER:\(modulus)
            e=INTEGER:\(exponent)
            """
    }

    @Test func `is one of too many in a role`() throws {
        let keys = JSON.fields((0..<257).map { ("\($0)", .null) })
        let role = try Envelope(
            JSON.fields([
                (
                    "signed",
                    .fields([
                        ("_type", .text("root")), ("spec_version", .text("1.0.0")), ("version", .integer(1)),
                        ("expires", .text("2030-01-01T00:00:00Z")), ("keys", keys), ("roles", .fields([])),
                    ])
                ), ("signatures", .array([])),
            ]),
            role: "root"
        )
        #expect(throws: FormatError("root", field: "keys", rule: "must hold at most 256 members")) {
            try RootRole(role)
        }
        let entries = try Fields(
            JSON.fields([(EntryKeys.member, .fields((0..<101).map { ("\($0)", .null) }))]),
            of: "production"
        )
        #expect(throws: FormatError("production", field: EntryKeys.member, rule: "must hold at most 100 members")) {
            try EntryKeys(entries)
        }
    }
}
