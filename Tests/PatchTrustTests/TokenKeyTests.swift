import FoundationEssentials
import PatchFormat
import PatchCrypto
import PatchTesting
import Testing

@Suite("A key on a PKCS#11 token")
struct TokenKeyTests {
    private static let message = Array("patchline-patch-v1\n{\"app\":\"a\"}".utf8)

    @Test(arguments: [SignatureScheme.rsaPSS, .rsaPKCS1v15])
    func `signs as RSA does, and openssl verifies it`(_ scheme: SignatureScheme) throws {
        let signature = try SoftToken.ready().key("rsa").sign(Self.message, scheme: scheme)
        #expect(try TestingKey.production.key.publicKey.verifies(signature, over: Self.message, scheme: scheme))
        let bench = try Bench()
        try bench.write(Self.message, to: "message")
        try bench.write(signature, to: "sig")
        try bench.write(Array(try TestingKey.production.publicPEM.utf8), to: "pub")
        let options = scheme == .rsaPSS ? "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32" : ""
        #expect(
            try bench.run("openssl dgst -sha256 -verify pub -signature sig \(options) message") == "Verified OK\n"
        )
    }

    @Test func `signs on P-256, and openssl verifies it`() throws {
        let token = try SoftToken.ready()
        let key = try token.key("ec")
        let signature = try key.sign(Self.message, scheme: .ecdsaP256)
        #expect(key.publicKey.kind == .p256)
        #expect(key.publicKey.verifies(signature, over: Self.message, scheme: .ecdsaP256))
        let bench = try Bench()
        try bench.write(Self.message, to: "message")
        try bench.write(signature, to: "sig")
        let check = "openssl dgst -sha256 -verify '\(token.folder.path)/ec.pub' -signature sig message"
        #expect(try bench.run(check) == "Verified OK\n")
    }

    @Test func `has the public key of the file that it was imported from, with a PIN or without`() throws {
        let token = try SoftToken.ready()
        let key = try TestingKey.production.key.publicKey
        #expect(try token.key("rsa").publicKey == key)
        #expect(try token.key("rsa").publicKey.pem == key.pem)
        let uri = try TokenURI("pkcs11:token=release;id=%01")
        #expect(try TokenKey.publicKey(uri, module: token.module) == key)
        let ec = String(decoding: try Data(contentsOf: token.folder.appending(path: "ec.pub")), as: UTF8.self)
        #expect(try token.key("ec").publicKey.pem == ec)
    }

    @Test func `signs entries byte for byte as its file does, also from many threads at once`() async throws {
        let key = try SoftToken.ready().key("rsa")
        let expected = try TestingKey.production.key.sign(Self.message, scheme: .rsaPKCS1v15)
        let made = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<24 { group.addTask { try key.sign(Self.message, scheme: .rsaPKCS1v15) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(made == Array(repeating: expected, count: 24))
    }

    @Test(arguments: JSPatchDigest.allCases)
    func `makes the JSPatch form that its file makes`(_ digest: JSPatchDigest) throws {
        let file = Fingerprint(of: Self.message)
        let made = try SoftToken.ready().key("rsa").signJSPatch(digest, of: file)
        #expect(try made == TestingKey.production.key.signJSPatch(digest, of: file))
        let unfit = KeyError.unfit(.p256, wanted: "RSA")
        #expect(throws: unfit) { try SoftToken.ready().key("ec").signJSPatch(digest, of: file) }
    }

    @Test func `does not sign by a scheme of another kind, and does not print itself`() throws {
        let key = try SoftToken.ready().key("ec")
        #expect(throws: KeyError.unfit(.p256, wanted: "RSA")) { try key.sign(Self.message, scheme: .rsaPSS) }
        #expect("\(key)" == "‹key on a token›")
    }

    @Test func `does not open with a wrong PIN`() throws {
        let module = try SoftToken.ready().module
        // A token of its own: one that is logged in is not asked again.
        let uri = try TokenURI("pkcs11:token=other;object=rsa")
        #expect(throws: TokenError.wrongPIN) { try TokenKey(uri, module: module, pin: "0815") }
    }

    @Test func `on a token that is not there is refused with those that are`() throws {
        let module = try SoftToken.ready().module
        let uri = try TokenURI("pkcs11:token=lost;object=rsa")
        let error = TokenError.noToken("lost", present: ["other", "release"])
        #expect(throws: error) { try TokenKey(uri, module: module, pin: SoftToken.pin) }
        #expect(throws: error) { try TokenKey.publicKey(uri, module: module) }
    }

    @Test func `that its token does not hold is refused`() throws {
        let module = try SoftToken.ready().module
        let uri = try TokenURI("pkcs11:token=release;object=lost")
        #expect(throws: TokenError.noKey) { try TokenKey(uri, module: module, pin: SoftToken.pin) }
    }

    @Test func `is refused when its module is missing or none`() throws {
        let uri = try TokenURI("pkcs11:token=release;object=rsa")
        for module in ["/nowhere/module.so", #filePath, "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"] {
            #expect(throws: TokenError.noModule(module)) { try TokenKey(uri, module: module, pin: SoftToken.pin) }
        }
    }
}

@Suite("A pkcs11: URI")
struct TokenURITests {
    @Test func `names token, key and module`() throws {
        let uri = try TokenURI("pkcs11:token=My%20Card;id=%01%ff;type=private?module-path=/usr/lib/m.so")
        #expect(uri.token == "My Card")
        #expect(uri.modulePath == "/usr/lib/m.so")
        #expect(uri.description == "pkcs11:token=My%20Card;id=%01%ff;type=private")
        #expect(try TokenURI("pkcs11:serial=12;object=a").token == nil)
        #expect(try TokenURI("pkcs11:slot-id=0;object=a").modulePath == nil)
    }

    @Test(arguments: [
        ("file:/x", "must begin with pkcs11:"), ("pkcs11:", "has the unknown attribute ''"),
        ("pkcs11:object=a", "names no token; give token=, serial= or slot-id="),
        ("pkcs11:token=a", "names no key; give object= or id="),
        ("pkcs11:token=a;object=b;type=cert", "must name a private key, not type=cert"),
        ("pkcs11:token=a;token=b;object=c", "has token twice"),
        ("pkcs11:token=;object=c", "has no readable value for token"),
        ("pkcs11:token=a;object", "has no readable value for object"),
        ("pkcs11:token=a%2;object=c", "has no readable value for token"),
        ("pkcs11:token=a%zz;object=c", "has no readable value for token"),
        ("pkcs11:token=a b;object=c", "has no readable value for token"),
        ("pkcs11:token=a;object=c;x-new=1", "has the unknown attribute 'x-new'"),
        ("pkcs11:token=a;object=c?module-name=p", "has the unknown attribute 'module-name'"),
        (
            "pkcs11:token=a;object=c?pin-value=1",
            "must not contain pin-value; give the PIN with --pin-file or --pin-env"
        ),
        (
            "pkcs11:token=a;object=c?pin-source=/p",
            "must not contain pin-source; give the PIN with --pin-file or --pin-env"
        ),
    ])
    func `is refused by name for what is wrong with it`(_ text: String, _ rule: String) {
        #expect(throws: TokenError.uri(rule)) { try TokenURI(text) }
    }

    @Test(arguments: ["pkcs11:token=a;object=c?pin-value=4711", "pkcs11:token=a;object=c;pin-value=4711"])
    func `is quoted without its PIN`(_ text: String) {
        #expect(TokenURI.withoutSecrets(text) == "pkcs11:token=a;object=c")
    }
}
