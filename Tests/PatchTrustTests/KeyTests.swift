import FoundationEssentials
import Glibc
import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

@Suite("A private key")
struct PrivateKeyTests {
    @Test(arguments: ["correct horse", "pässwörd 🐎", " ", String(repeating: "x", count: 1_023)])
    func `written with a passphrase opens with it again, here and in openssl`(_ passphrase: String) throws {
        let key = try TestingKey.entry.key
        let pem = try key.pem(passphrase: passphrase)
        #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
        #expect(try PrivateKey(pem: pem, passphrase: passphrase).publicKey == key.publicKey)
        let bench = try Bench()
        try bench.write(pem, to: "key")
        try bench.write(Array("\(passphrase)\n".utf8), to: "pass")
        #expect(try bench.run("openssl pkey -in key -passin file:pass -pubout") == TestingKey.entry.publicPEM)
    }

    @Test func `is encrypted with AES-256 under 600,000 rounds of PBKDF2`() throws {
        let bench = try Bench()
        try bench.write(try TestingKey.entry.key.pem(passphrase: "x"), to: "key")
        let structure = try bench.run("openssl asn1parse -in key")
        #expect(
            structure.contains("PBKDF2") && structure.contains("aes-256-cbc") && structure.contains("hmacWithSHA256"),
            "\(structure)"
        )
        #expect(structure.contains("INTEGER           :0927C0"), "\(structure)")
    }

    @Test(arguments: ["", "a\0b", String(repeating: "x", count: 1_024)])
    func `is not written with a passphrase that would not open it again`(_ passphrase: String) throws {
        let error = try #require(throws: KeyError.self) { try TestingKey.entry.key.pem(passphrase: passphrase) }
        #expect(error == .unusablePassphrase)
    }

    @Test(arguments: [
        "openssl pkcs8 -topk8 -v2 aes-256-cbc -passout pass:secret",
        "openssl pkcs8 -topk8 -v2 aes-128-cbc -passout pass:secret",
        "openssl rsa -aes256 -traditional -passout pass:secret",
    ])
    func `that openssl encrypted opens with its passphrase alone`(_ command: String) throws {
        let bench = try Bench()
        try bench.run("\(command) -in '\(TestingKey.entry.file.path)' -out key")
        let pem = try bench.read("key")
        #expect(try PrivateKey(pem: pem, passphrase: "secret").publicKey == TestingKey.entry.key.publicKey)
        #expect(throws: KeyError.wrongPassphrase) { try PrivateKey(pem: pem, passphrase: "Secret") }
        #expect(throws: KeyError.wrongPassphrase) { try PrivateKey(pem: pem, passphrase: "") }
        #expect(throws: KeyError.needsPassphrase) { try PrivateKey(pem: pem, passphrase: nil) }
    }

    @Test func `in the clear opens without a passphrase and with one that it does not need`() throws {
        let key = try TestingKey.entry.key
        let pem = try key.unencryptedPEM()
        #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(try PrivateKey(pem: pem, passphrase: nil).publicKey == key.publicKey)
        #expect(try PrivateKey(pem: pem, passphrase: "spare").publicKey == key.publicKey)
    }

    @Test func `of 1,024 bits is refused`() throws {
        #expect(throws: KeyError.tooSmall(bits: 1_024)) { try TestingKey.small.key }
    }

    @Test func `is refused when it is a public key, garbage, cut off, too long or no text`() throws {
        let pem = try TestingKey.entry.key.unencryptedPEM()
        for bytes in [
            Array(try TestingKey.entry.publicPEM.utf8), [], Array("hello".utf8),
            Array("-----BEGIN PRIVATE KEY-----\n".utf8),
            Array(pem.prefix(pem.count / 2)), pem + [0xFF], pem + [UInt8](repeating: 0x0A, count: Limits.keyFile),
            Array(String(decoding: pem, as: UTF8.self).replacing("PRIVATE KEY", with: "CERTIFICATE").utf8),
        ] {
            #expect(throws: KeyError.unreadable) { try PrivateKey(pem: bytes, passphrase: nil) }
        }
    }

    @Test func `encrypted and damaged does not open`() throws {
        var pem = try TestingKey.entry.key.pem(passphrase: "x")
        pem.removeSubrange(200..<264)
        #expect(throws: KeyError.wrongPassphrase) { try PrivateKey(pem: pem, passphrase: "x") }
    }

    @Test(arguments: [
        "-algorithm EC -pkeyopt ec_paramgen_curve:P-384", "-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1",
        "-algorithm ED448", "-algorithm X25519",
        "-algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048",
    ])
    func `of another sort is refused`(_ options: String) throws {
        let bench = try Bench()
        try bench.run("openssl genpkey \(options) -out key -quiet 2>/dev/null || openssl genpkey \(options) -out key")
        #expect(throws: KeyError.unsupported) { try PrivateKey(pem: try bench.read("key"), passphrase: nil) }
    }

    @Test func `that is new has the size asked for, and never too small a one`() throws {
        #expect(try PrivateKey.generate(.rsa(bits: 2_048)).publicKey.kind == .rsa(bits: 2_048))
        #expect(throws: KeyError.tooSmall(bits: 1_024)) { try PrivateKey.generate(.rsa(bits: 1_024)) }
    }

    @Test func `does not print itself`() throws {
        let key = try TestingKey.entry.key
        #expect("\(key)" == "‹private key›")
    }
}

@Suite("A public key")
struct PublicKeyTests {
    @Test(arguments: TestingKey.allCases.filter { $0 != .small })
    func `of a testing key is its file, 3,072 bits, and known as one`(_ key: TestingKey) throws {
        let publicKey = try PublicKey(pem: try key.publicPEM)
        #expect(publicKey.kind == .rsa(bits: 3_072))
        #expect(try key.key.publicKey == publicKey)
        #expect(publicKey.pem == (try key.publicPEM))
        #expect(TestingKeys.contains(publicKey))
    }

    @Test func `that is new is no testing key`() throws {
        #expect(!TestingKeys.contains(try PrivateKey.generate(.rsa(bits: 2_048)).publicKey))
    }

    @Test func `of 1,024 bits is refused`() throws {
        #expect(throws: KeyError.tooSmall(bits: 1_024)) { try PublicKey(pem: try TestingKey.small.publicPEM) }
    }

    @Test func `is refused when it is a private key, garbage, cut off, too long or behind other text`() throws {
        let pem = try TestingKey.entry.publicPEM
        for text in [
            String(decoding: try TestingKey.entry.key.unencryptedPEM(), as: UTF8.self), "", "hello",
            "-----BEGIN PUBLIC KEY-----\n",
            String(pem.prefix(300)), "\n\(pem)", "# comment\n\(pem)",
            pem + String(repeating: "\n", count: Limits.keyFile),
            pem.replacing("PUBLIC KEY", with: "RSA PUBLIC KEY"),
        ] {
            #expect(throws: KeyError.unreadable) { try PublicKey(pem: text) }
        }
    }

    @Test(arguments: [
        ("encrypted", "patchline\n"), ("encrypted-key-behind", "a\n"),
    ])
    func `with something encrypted in it is refused, and nobody is asked for the passphrase`(
        _ file: String,
        passphrase: String
    ) throws {
        let pem = String(decoding: try Vectors.bytes("hostile/pem/\(file).pem"), as: UTF8.self)
        let left = try withStandardInput(passphrase) {
            #expect(throws: KeyError.unreadable) { try PublicKey(pem: pem) }
        }
        #expect(left == passphrase)
    }

    @Test(arguments: [0, 31, 33])
    func `of Ed25519 has 32 bytes`(_ count: Int) {
        #expect(throws: KeyError.unreadable) { try PublicKey(ed25519: [UInt8](repeating: 1, count: count)) }
    }

    @Test func `has the same material however its PEM is spelled`() throws {
        let pem = try TestingKey.entry.publicPEM
        let key = try PublicKey(pem: pem)
        for text in [pem.replacing("\n", with: "\r\n"), String(pem.dropLast()), "\(pem)\n\n"] {
            #expect(try PublicKey(pem: text).material == key.material)
        }
    }

    @Test func `is the one of its own bytes, also when it is read again after more than are remembered`() throws {
        let keys = try (0..<70).map { _ in try PrivateKey.generate(.ed25519).publicKey }
        for key in keys + keys { #expect(try PublicKey(pem: key.pem) == key) }
    }

    @Test func `on P-256 has the same material whether its point is compressed or its curve spelled out`() throws {
        let bench = try Bench()
        try bench.run("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key")
        try bench.run(
            "openssl ec -in key -pubout -out plain && openssl ec -in key -pubout -conv_form compressed -out compressed"
        )
        try bench.run("openssl ec -in key -pubout -param_enc explicit -out explicit")
        let plain = try PublicKey(pem: String(decoding: try bench.read("plain"), as: UTF8.self))
        for name in ["compressed", "explicit"] {
            let text = String(decoding: try bench.read(name), as: UTF8.self)
            #expect(text != plain.pem)
            #expect(try PublicKey(pem: text).material == plain.material)
        }
    }
}

/// Runs `body` while standard input holds `text`.
///
/// - Returns: what `body` left of it.
private func withStandardInput(_ text: String, _ body: () throws -> Void) throws -> String {
    var ends: [Int32] = [0, 0]
    try #require(unsafe pipe(&ends) == 0)
    let before = dup(STDIN_FILENO)
    var bytes = Array(text.utf8)
    try #require(unsafe write(ends[1], bytes, bytes.count) == bytes.count && dup2(ends[0], STDIN_FILENO) >= 0)
    defer {
        dup2(before, STDIN_FILENO)
        for end in [ends[0], before] { close(end) }
    }
    try body()
    close(ends[1])
    let count = unsafe read(ends[0], &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}
