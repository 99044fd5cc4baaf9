import FoundationEssentials
import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("A signature")
struct SignatureTests {
    static let message = Array("patchline-patch-v1\n{\"app\":\"a\"}".utf8)
    static let pss = "-sigopt rsa_padding_mode:pss"

    private static func bench() throws -> Bench {
        let bench = try Bench()
        try bench.write(message, to: "message")
        try bench.write(try TestingKey.entry.pem, to: "key")
        try bench.write(Array(try TestingKey.entry.publicPEM.utf8), to: "pub")
        return bench
    }

    @Test func `by PKCS#1 v1.5 is the one that openssl makes, and openssl verifies it`() throws {
        let bench = try Self.bench()
        let signature = try TestingKey.entry.key.sign(Self.message, scheme: .rsaPKCS1v15)
        try bench.run("openssl dgst -sha256 -sign key -out sig message")
        #expect(try bench.read("sig") == signature)
        try bench.write(signature, to: "ours")
        #expect(try bench.run("openssl dgst -sha256 -verify pub -signature ours message") == "Verified OK\n")
        #expect(try TestingKey.entry.key.sign(Self.message, scheme: .rsaPKCS1v15) == signature)
    }

    @Test func `by PSS has a salt of 32 bytes and verifies in openssl`() throws {
        let bench = try Self.bench()
        try bench.write(try TestingKey.entry.key.sign(Self.message, scheme: .rsaPSS), to: "sig")
        let command = "openssl dgst -sha256 -verify pub -signature sig \(Self.pss) -sigopt rsa_mgf1_md:sha256"
        #expect(try bench.run("\(command) -sigopt rsa_pss_saltlen:32 message") == "Verified OK\n")
        #expect(throws: Bench.Failed.self) { try bench.run("\(command) -sigopt rsa_pss_saltlen:20 message") }
    }

    @Test(arguments: [0, 1, 20, 32, 64, 350])
    func `by PSS that openssl made is taken with any salt`(_ salt: Int) throws {
        let bench = try Self.bench()
        try bench.run("openssl dgst -sha256 -sign key -out sig \(Self.pss) -sigopt rsa_pss_saltlen:\(salt) message")
        #expect(try TestingKey.entry.key.publicKey.verifies(try bench.read("sig"), over: Self.message, scheme: .rsaPSS))
    }

    @Test(arguments: [
        "-sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_mgf1_md:sha512", "-sha512 -sigopt rsa_padding_mode:pss",
        "-sha1 -sigopt rsa_padding_mode:pss",
        "-sha1", "-sha512",
    ])
    func `by another digest or mask is refused`(_ options: String) throws {
        let bench = try Self.bench()
        try bench.run("openssl dgst -sign key -out sig \(options) message")
        let (key, signature) = (try TestingKey.entry.key.publicKey, try bench.read("sig"))
        #expect(!key.verifies(signature, over: Self.message, scheme: .rsaPSS))
        #expect(!key.verifies(signature, over: Self.message, scheme: .rsaPKCS1v15))
    }

    @Test(arguments: [SignatureScheme.rsaPSS, .rsaPKCS1v15])
    func `does not hold with one bit of it, of the message or another key`(_ scheme: SignatureScheme) throws {
        let key = try TestingKey.entry.key
        let signature = try key.sign(Self.message, scheme: scheme)
        #expect(key.publicKey.verifies(signature, over: Self.message, scheme: scheme))
        for bit in [0, 7, 1_536, 3_064, 3_071] {
            #expect(!key.publicKey.verifies(signature.flippingBit(bit), over: Self.message, scheme: scheme))
        }
        for bit in stride(from: 0, to: Self.message.count * 8, by: 37) {
            #expect(!key.publicKey.verifies(signature, over: Self.message.flippingBit(bit), scheme: scheme))
        }
        #expect(try !TestingKey.other.key.publicKey.verifies(signature, over: Self.message, scheme: scheme))
        for bytes in [[], Array(signature.dropLast()), signature + [0], [0] + signature, Array(signature.reversed())] {
            #expect(!key.publicKey.verifies(bytes, over: Self.message, scheme: scheme))
        }
    }

    @Test func `of one scheme does not hold under another`() throws {
        let key = try TestingKey.entry.key
        let schemes: [SignatureScheme] = [.rsaPSS, .rsaPKCS1v15]
        for (made, read) in zip(schemes, schemes.reversed()) {
            #expect(!key.publicKey.verifies(try key.sign(Self.message, scheme: made), over: Self.message, scheme: read))
        }
        for (scheme, wanted) in [(SignatureScheme.ed25519, "Ed25519"), (.ecdsaP256, "P-256")] {
            let unfit = KeyError.unfit(key.publicKey.kind, wanted: wanted)
            #expect(throws: unfit) { try key.sign(Self.message, scheme: scheme) }
            #expect(!key.publicKey.verifies([], over: Self.message, scheme: scheme))
        }
    }

    @Test func `over nothing holds too`() throws {
        let key = try TestingKey.entry.key
        #expect(key.publicKey.verifies(try key.sign([], scheme: .rsaPKCS1v15), over: [], scheme: .rsaPKCS1v15))
    }

    @Test func `by Ed25519 that openssl made is taken, and ours by openssl`() throws {
        let bench = try Self.bench()
        try bench.run("openssl genpkey -algorithm ED25519 -out ed && openssl pkey -in ed -pubout -out edpub")
        try bench.run(
            "openssl pkey -in ed -pubout -outform DER | tail -c 32 > raw && openssl pkeyutl -sign -inkey ed -rawin -in message -out sig"
        )
        let key = try PublicKey(ed25519: try bench.read("raw"))
        let signature = try bench.read("sig")
        #expect(key.kind == .ed25519)
        #expect(key.verifies(signature, over: Self.message, scheme: .ed25519))
        #expect(!key.verifies(signature.flippingBit(100), over: Self.message, scheme: .ed25519))
        #expect(!key.verifies(signature, over: Self.message, scheme: .ecdsaP256))
        let tuf = TUFKey(
            .fields([
                ("keytype", .text("ed25519")), ("scheme", .text("ed25519")),
                ("keyval", .fields([("public", .text(Hex.text(try bench.read("raw"))))])),
            ])
        )
        #expect(tuf.publicKey == key)
        let ours = try PrivateKey(pem: try bench.read("ed"), passphrase: nil).sign(Self.message, scheme: .ed25519)
        #expect(ours == signature)
    }

    @Test(arguments: ["ecdsa", "ecdsa-sha2-nistp256"])
    func `by P-256 that openssl made is taken under either name of its key type`(_ type: String) throws {
        let bench = try Self.bench()
        try bench.run(
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec && openssl pkey -in ec -pubout -out ecpub"
        )
        try bench.run("openssl dgst -sha256 -sign ec -out sig message")
        let pem = String(decoding: try bench.read("ecpub"), as: UTF8.self)
        let tuf = TUFKey(
            .fields([
                ("keytype", .text(type)), ("scheme", .text("ecdsa-sha2-nistp256")),
                ("keyval", .fields([("public", .text(pem))])),
            ])
        )
        let key = try #require(tuf.publicKey)
        let signature = try bench.read("sig")
        #expect(key.kind == .p256)
        #expect(key.verifies(signature, over: Self.message, scheme: .ecdsaP256))
        #expect(!key.verifies(signature, over: Self.message.flippingBit(0), scheme: .ecdsaP256))
        #expect(!key.verifies(signature + [0], over: Self.message, scheme: .ecdsaP256))
        try bench.write(
            try PrivateKey(pem: try bench.read("ec"), passphrase: nil).sign(Self.message, scheme: .ecdsaP256),
            to: "ours"
        )
        #expect(try bench.run("openssl dgst -sha256 -verify ecpub -signature ours message") == "Verified OK\n")
    }

    @Test(arguments: Vectors.names(in: "statements", ending: ".statement"))
    func `of a statement is the one of its vector, and openssl verifies it`(_ name: String) throws {
        let statement = try Vectors.bytes("statements/\(name).statement")
        let expected = try #require(Hex.bytes(try Vectors.text("statements/\(name).sig")))
        #expect(try TestingKey.entry.key.sign(statement, scheme: .rsaPKCS1v15) == expected)
        let bench = try Bench()
        try bench.write(statement, to: "statement")
        try bench.write(expected, to: "sig")
        try bench.write(try Vectors.bytes("statements/entry.pub"), to: "pub")
        #expect(try bench.run("openssl dgst -sha256 -verify pub -signature sig statement") == "Verified OK\n")
    }
}
