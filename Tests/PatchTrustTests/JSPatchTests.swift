import FoundationEssentials
import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("A JSPatch signature")
struct JSPatchTests {
    private static let script = Array("require('UIView')\n".utf8)
    private static let file = Fingerprint(of: script)

    /// A key pair of openssl's in a bench: `key` and `pub`.
    private static func bench(bits: Int) throws -> Bench {
        let bench = try Bench()
        try bench.run("openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:\(bits) -out key")
        try bench.run("openssl pkey -in key -pubout -out pub")
        return bench
    }

    private static func publicKey(_ bench: Bench) throws -> JSPatchPublicKey {
        try JSPatchPublicKey(pem: String(decoding: try bench.read("pub"), as: UTF8.self))
    }

    @Test(arguments: [2_048, 3_072, 4_096], JSPatchDigest.allCases)
    func `has the bytes of openssl pkeyutl, and openssl recovers the digest`(
        _ bits: Int,
        _ digest: JSPatchDigest
    ) throws {
        let bench = try Self.bench(bits: bits)
        try bench.write(Self.script, to: "script")
        let key = try PrivateKey(pem: try bench.read("key"), passphrase: nil)
        let signature = try key.signJSPatch(digest, of: Self.file)
        try bench.run("printf %s $(\(digest)sum script | cut -d' ' -f1) > text")
        try bench.run("openssl pkeyutl -sign -inkey key -in text -out theirs")
        #expect(try bench.read("theirs") == signature)
        #expect(signature.count == bits / 8)
        try bench.write(signature, to: "ours")
        let recovered = try bench.run("openssl pkeyutl -verifyrecover -pubin -inkey pub -in ours")
        #expect(recovered == digest.text(of: Self.file))
        try Self.publicKey(bench).check(signature, digest: digest, of: Self.file)
        try JSPatchPublicKey(key.publicKey).check(signature, digest: digest, of: Self.file)
    }

    /// The key pair that JSPatch's packer and loader come with, and its signature over the MD5 of nothing.
    @Test func `of JSPatch's own demo pair, 1,024 bits, verifies`() throws {
        let key = try JSPatchPublicKey(
            pem: """
                -----BEGIN PUBLIC KEY-----
                MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC+1xcYsEE+ab/Ame1/HHAgfBRh
                D67I9mBYCiOJqC3lJX5RKFvtOTcF5Sf5Bz3NL/2QWPLu40+yt4EvjZ3HOUAHrVgo
                2Fjo4vpaRoEaEtaccOziPH/ASScOfL+uppNGOa0glTCZLKVZI3Go8zoutr8VDw2d
                NT7rDM/4TvPjwMYd3QIDAQAB
                -----END PUBLIC KEY-----
                """
        )
        let signature = try #require(
            Hex.bytes(
                """
                8bbd438442723835860848f75b5bba233263bf50a582fefade1ce2445b756861\
                c6618189de242db895e85a98e4267ff79e82e3af748f59431633f9f7ded3dee2\
                06f39f2d06415ecd69afccb404f9d57799fc0430f04a32a543cceeca7d0c6648\
                6b67910057cfc1eef7e45ebf88748e63ae9f3b8ef3eee8c7801c4bca460ccecf
                """
            )
        )
        try key.check(signature, digest: .md5, of: Fingerprint(of: []))
        #expect(
            throws: JSPatchError.otherDigest(
                signed: "d41d8cd98f00b204e9800998ecf8427e",
                found: Self.file.md5.hex
            )
        ) { try key.check(signature, digest: .md5, of: Self.file) }
    }

    @Test func `does not hold with one bit of it, of the file or of the key another`() throws {
        let bench = try Self.bench(bits: 2_048)
        let (key, other) = (try Self.publicKey(bench), try Self.publicKey(Self.bench(bits: 2_048)))
        let signature = try PrivateKey(pem: try bench.read("key"), passphrase: nil).signJSPatch(.md5, of: Self.file)
        try key.check(signature, digest: .md5, of: Self.file)
        for bit in [9, 1_000, 2_047] {
            #expect(throws: JSPatchError.self) {
                try key.check(signature.flippingBit(bit), digest: .md5, of: Self.file)
            }
        }
        let changed = Fingerprint(of: Self.script.flippingBit(3))
        #expect(throws: JSPatchError.otherDigest(signed: Self.file.md5.hex, found: changed.md5.hex)) {
            try key.check(signature, digest: .md5, of: changed)
        }
        #expect(throws: JSPatchError.self) { try other.check(signature, digest: .md5, of: Self.file) }
        #expect(throws: JSPatchError.textLength(32, expected: 40)) {
            try key.check(signature, digest: .sha1, of: Self.file)
        }
    }

    /// What is wrong with a block of 256 bytes over the right digest, and the error.
    enum Deviation: String, CaseIterable, Sendable {
        case firstByte, type2, type0, shortPadding, paddingByte, earlyZero, noSeparator, noText
        case upperCase, otherCharacter, shortText, longText, trailingZero, digestInfo

        var block: [UInt8] {
            let text = Array(JSPatchTests.file.md5.hex.utf8)
            func block(_ text: [UInt8], type: UInt8 = 1) -> [UInt8] {
                [0, type] + [UInt8](repeating: 0xFF, count: 253 - text.count) + [0] + text
            }
            var bytes = block(text)
            switch self {
            case .firstByte: bytes[0] = 0x01
            case .type2: bytes[1] = 0x02
            case .type0: bytes[1] = 0x00
            case .shortPadding: bytes = block(Array("\(String(repeating: "a", count: 214))".utf8) + text)
            case .paddingByte: bytes[100] = 0xFE
            case .earlyZero: bytes[20] = 0x00
            case .noSeparator: bytes = [0, 1] + [UInt8](repeating: 0xFF, count: 254)
            case .noText: bytes = block([])
            case .upperCase: bytes = block(Array(JSPatchTests.file.md5.hex.uppercased().utf8))
            case .otherCharacter: bytes = block(text.dropLast() + Array("g".utf8))
            case .shortText: bytes = block(text.dropLast())
            case .longText: bytes = block(text + Array("0".utf8))
            case .trailingZero: bytes = block(text + [0])
            case .digestInfo: bytes = block(Array(repeating: 0x30, count: 18) + JSPatchTests.file.md5.bytes)
            }
            return bytes
        }

        var error: JSPatchError {
            switch self {
            case .firstByte, .type2, .type0: .blockType
            case .shortPadding: .shortPadding(7)
            case .paddingByte: .paddingByte(0xFE, at: 100)
            case .earlyZero: .textLength(235, expected: 32)
            case .noSeparator, .noText: .noText
            case .upperCase, .otherCharacter: .notHex
            case .shortText: .textLength(31, expected: 32)
            case .longText, .trailingZero: .textLength(33, expected: 32)
            case .digestInfo: .textLength(34, expected: 32)
            }
        }
    }

    @Test(arguments: Deviation.allCases)
    func `over a block that is not strictly PKCS#1 type 1 is refused by name`(_ deviation: Deviation) throws {
        let bench = try Self.bench(bits: 2_048)
        try bench.write(deviation.block, to: "block")
        // The private operation and nothing else.
        try bench.run("openssl pkeyutl -decrypt -inkey key -pkeyopt rsa_padding_mode:none -in block -out sig")
        let (key, signature) = (try Self.publicKey(bench), try bench.read("sig"))
        #expect(throws: deviation.error) { try key.check(signature, digest: .md5, of: Self.file) }
    }

    @Test func `of another length than its key's, or not below its modulus, is refused`() throws {
        let key = try JSPatchPublicKey(try TestingKey.other.key.publicKey)
        let signature = try TestingKey.other.key.signJSPatch(.md5, of: Self.file)
        for bytes in [[], Array(signature.dropLast()), signature + [0], [0] + signature] {
            #expect(throws: JSPatchError.length(bytes.count, expected: 384)) {
                try key.check(bytes, digest: .md5, of: Self.file)
            }
        }
        #expect(throws: JSPatchError.outOfRange) {
            try key.check([UInt8](repeating: 0xFF, count: 384), digest: .md5, of: Self.file)
        }
    }

    @Test func `is not checked with a key below 1,024 bits, of another kind or in another form`() throws {
        let bench = try Self.bench(bits: 768)
        #expect(throws: JSPatchError.tooSmall(bits: 768)) { try Self.publicKey(bench) }
        #expect(throws: JSPatchError.notRSA) { try JSPatchPublicKey(try PrivateKey.generate(.p256).publicKey) }
        #expect(throws: JSPatchError.notPEM) { try JSPatchPublicKey(pem: "hello") }
        #expect(throws: JSPatchError.notPEM) {
            try JSPatchPublicKey(pem: String(decoding: try bench.read("key"), as: UTF8.self))
        }
    }

    @Test func `asks nobody for the passphrase of a private key that stands behind a public header`() throws {
        let encrypted = try String(
            contentsOf: repository.appending(path: "Keys/Testing/encrypted.key"),
            encoding: .utf8
        )
        let nothing = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"
        #expect(throws: JSPatchError.notPEM) { try JSPatchPublicKey(pem: nothing + encrypted) }
        let whole = try TestingKey.other.publicPEM
        #expect(throws: JSPatchError.notPEM) { try JSPatchPublicKey(pem: whole + whole) }
        #expect(throws: JSPatchError.notPEM) { try JSPatchPublicKey(pem: nothing + whole) }
    }

    @Test func `is not made by a key below 2,048 bits or of another kind`() throws {
        let bench = try Self.bench(bits: 1_024)
        #expect(throws: KeyError.tooSmall(bits: 1_024)) { try PrivateKey(pem: try bench.read("key"), passphrase: nil) }
        let unfit = KeyError.unfit(.ed25519, wanted: "RSA")
        #expect(unfit.description == "is Ed25519, where RSA is needed")
        #expect(throws: unfit) { try PrivateKey.generate(.ed25519).signJSPatch(.md5, of: Self.file) }
    }

    @Test func `is made by an old pair of 1,024 bits that is opened for it, and by none below`() throws {
        let bench = try Self.bench(bits: 1_024)
        try bench.run("openssl pkey -in key -aes256 -passout pass:secret -out closed")
        let key = try JSPatchPrivateKey(pem: try bench.read("key"), passphrase: nil)
        let signature = try key.sign(.md5, of: Self.file)
        try bench.write(Self.script, to: "script")
        try bench.run(
            "printf %s $(md5sum script | cut -d' ' -f1) > text; openssl pkeyutl -sign -inkey key -in text -out sig"
        )
        #expect(try bench.read("sig") == signature && signature.count == 128)
        try key.publicKey.check(signature, digest: .md5, of: Self.file)
        try Self.publicKey(bench).check(signature, digest: .md5, of: Self.file)
        #expect("\(key)" == "‹private key›")
        let closed = try bench.read("closed")
        #expect(try JSPatchPrivateKey(pem: closed, passphrase: "secret").sign(.md5, of: Self.file) == signature)
        #expect(throws: KeyError.needsPassphrase) { try JSPatchPrivateKey(pem: closed, passphrase: nil) }
        #expect(throws: KeyError.wrongPassphrase) { try JSPatchPrivateKey(pem: closed, passphrase: "other") }
        let small = try Self.bench(bits: 768).read("key")
        #expect(throws: KeyError.tooSmall(bits: 768)) { try JSPatchPrivateKey(pem: small, passphrase: nil) }
        let other = try PrivateKey.generate(.p256).unencryptedPEM()
        #expect(throws: KeyError.unfit(.p256, wanted: "RSA")) { try JSPatchPrivateKey(pem: other, passphrase: nil) }
        #expect(throws: KeyError.unreadable) { try JSPatchPrivateKey(pem: Self.script, passphrase: nil) }
    }

    @Test func `is not one of its key's over an entry, nor the other way round`() throws {
        let key = try TestingKey.other.key
        let text = JSPatchSignature.message(.md5, of: Self.file)
        #expect(!key.publicKey.verifies(try key.signJSPatch(.md5, of: Self.file), over: text, scheme: .rsaPKCS1v15))
        #expect(throws: JSPatchError.textLength(51, expected: 32)) {
            try JSPatchPublicKey(key.publicKey)
                .check(try key.sign(text, scheme: .rsaPKCS1v15), digest: .md5, of: Self.file)
        }
    }
}
