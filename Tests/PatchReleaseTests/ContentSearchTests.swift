import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchRelease

@Suite("Secrets in a file")
struct ContentSearchTests {
    /// Of an Ed25519 key.
    private static let body = "MC4CAQAwBQYDK2VwBCIEIB0vJt7sKqPzXW5dGcYh3uRk8LmQnT2vAeFy1oHj6wZs"
    private static let pem = "-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----\n"
    private static let rsa = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
    private static let long = String(repeating: "Ab1+Cd2/", count: 40)

    private static func secret(in bytes: [UInt8], pieces: Int = 65_536) -> SecretKind? {
        var search = ContentSearch([])
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            search.take(Array(bytes[start..<min(start + pieces, bytes.count)]))
        }
        return search.finish().secret
    }

    private static func wide(_ text: String, isBig: Bool) -> [UInt8] {
        // With the byte order mark.
        "\u{FEFF}\(text)".utf16.flatMap { unit -> [UInt8] in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return isBig ? [high, low] : [low, high]
        }
    }

    @Test(arguments: [
        pem, pem.replacing("\n", with: "\r\n"), "{\"private_key\": \"\(pem.replacing("\n", with: "\\n"))\"}",
        "\"{\\\"key\\\": \\\"\(pem.replacing("\n", with: "\\\\n"))\\\"}\"", pem.replacing("\n", with: "\n      "),
        pem.replacing("\n", with: "\\u000a"), pem.replacing("\n", with: "%0A"),
        "k = `\(pem)`", "[\"\(pem.replacing("\n", with: "\",\n\""))\"]", pem.replacing("\n", with: "&#10;"),
        "\"-----BEGIN PRIVATE KEY-----\\n\" +\n  \"\(body)\\n\"", pem.replacing("\n", with: "\n# "),
        pem.replacing("PRIVATE", with: "EC PRIVATE"), pem.replacing("PRIVATE", with: "ENCRYPTED PRIVATE"),
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n\(body)\n",
        "client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFcEFJQkFBS0NBUUVBN1ZKVFV0OVVzOA==",
    ])
    func `are private keys in PEM, whatever the text around them is`(text: String) {
        #expect(Self.secret(in: Array(text.utf8)) == .privateKey(.pem))
    }

    @Test(arguments: [false, true])
    func `are found in UTF-16`(isBig: Bool) {
        #expect(Self.secret(in: Self.wide(Self.pem, isBig: isBig)) == .privateKey(.pem))
        #expect(Self.secret(in: Array(Self.wide(Self.pem, isBig: isBig).dropFirst(2))) == .privateKey(.pem))
    }

    @Test(arguments: [65_530, 65_536, 131_072 - 40, 700_000])
    func `are found wherever they begin, in pieces of any size`(place: Int) {
        let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: place) + Array("\n\(Self.pem)".utf8)
        for pieces in [997, 65_536, 262_144] { #expect(Self.secret(in: bytes, pieces: pieces) == .privateKey(.pem)) }
    }

    @Test(arguments: [
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\nlQVYBGX\(long)\n", SecretKind.Container.pgp),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQVYBGX\(long)\n", .pgp),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz\n",
            .openSSH
        ),
        (
            "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"MKBC\",\"d\":\"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE\"}",
            .jwk
        ),
        ("{ \"d\" : \"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE\", \"kty\" : \"OKP\" }", .jwk),
        ("k={kty:'oct',k:'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ'}", .jwk),
        ("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\nAAAA\n", .putty),
        ("AGE-SECRET-KEY-1QQPQZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQQPQZRY9X8GF2TVDW0S3JN54", .age),
        ("[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\n", .wireGuard),
        ("<RSAKeyValue><Modulus>u</Modulus><D>x</D></RSAKeyValue>", .xml),
        ("key: \(rsa)\(long)", .pkcs8), ("var k='\(body)'", .pkcs8), ("MIIEpAIBAAKCAQEA\(long)", .pkcs1),
    ])
    func `are private keys of other kinds`(text: String, container: SecretKind.Container) {
        #expect(Self.secret(in: Array(text.utf8)) == .privateKey(container))
    }

    @Test(arguments: [
        ("AKIAQ4XH7ZPLM2VNT5RW", SecretKind.Service.aws),
        ("aws_secret_access_key = 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", .aws),
        ("{\"secretAccessKey\": \"wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzzkEYab12\"}", .aws),
        ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", .gitHub), ("xoxb-2345678901-abcdEFGHijkl12", .slack),
        ("https://hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/aBcDeFgHiJkLmNoPqRsTuVwX", .slack),
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", .stripe), ("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", .google),
        ("npm_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", .npm), ("glpat-A1b2C3d4E5f6G7h8I9j0", .gitLab),
    ])
    func `are tokens`(text: String, service: SecretKind.Service) {
        #expect(Self.secret(in: Array("const t = \"\(text)\";".utf8)) == .token(service))
    }

    @Test(arguments: [
        #"key = "-----BEGIN PRIVATE KEY-----\n" + body;"#, "/-----BEGIN (RSA )?PRIVATE KEY-----([^-]*)-----END/",
        "throw Error('must begin with -----BEGIN PRIVATE KEY----- and end with the same words, as openssl writes them')",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQ...\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n\(String(repeating: "x", count: 64))\n",
        pem.replacing("PRIVATE KEY", with: "PUBLIC KEY").replacing(
            body,
            with: "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
        ),
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\",\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\"}",
        "if (jwk.kty === 'RSA') return { n: jwk.n, d: jwk.d }", "AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "pk_live_4eC39HqLyjWDarjtT1zdp7dc", "text_sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "secretAccessKey: e.secretAccessKey",
    ])
    func `are no programs, examples or public halves`(text: String) {
        #expect(Self.secret(in: Array(text.utf8)) == nil)
    }

    @Test(
        arguments: [
            ([0xFE, 0xED, 0xFE, 0xED, 0, 0, 0, 2], SecretKind.Container.javaKeyStore),
            // Of SEC 1 and PKCS#8, as openssl writes them, and an encrypted one.
            ([0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20] + [UInt8](repeating: 7, count: 32), .ec),
            (
                [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4, 0x20]
                    + [UInt8](repeating: 7, count: 32), .pkcs8
            ),
            ([0x30, 0x13, 0x30, 0x0D, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 0x0D, 5, 0, 4, 2, 1, 2], .pkcs8),
            ([0x30, 0x80, 2, 1, 3, 0x30, 0x80, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1, 0xA0], .pkcs12),
        ] as [([UInt8], SecretKind.Container)]
    )
    func `are files that are a key as a whole`(bytes: [UInt8], container: SecretKind.Container) {
        #expect(Self.secret(in: bytes) == .privateKey(container))
        // A certificate begins with the same tag.
        #expect(Self.secret(in: [0x30, 0x06, 0x30, 0x04, 0xA0, 0x02, 0x02, 0x00]) == nil)
    }

    @Test func `are told by what they are`() {
        #expect(
            SecretKind.Container.allCases.map { SecretKind.privateKey($0).words } == [
                "a private key (PEM)", "a private key (OpenPGP)", "a private key (PKCS#12)", "a private key (PKCS#8)",
                "a private key (PKCS#1)", "a private key (SEC 1)", "a private key (JWK)", "a private key (OpenSSH)",
                "a private key (PuTTY)", "a private key (a Java key store)", "a private key (age)",
                "a private key (WireGuard)", "a private key (XML)", "a private key (a key blob of Windows)",
            ]
        )
        #expect(
            SecretKind.Service.allCases.map { SecretKind.token($0).words } == [
                "a secret token of AWS", "a secret token of Google", "a secret token of GitHub",
                "a secret token of GitLab", "a secret token of Slack", "a secret token of Stripe",
                "a secret token of npm", "a secret token of PyPI", "a secret token of SendGrid",
                "a secret token of OpenAI", "a secret token of Anthropic", "a secret token of Hugging Face",
            ]
        )
    }

    @Test func `need not be errors where the description allows them`() async throws {
        let bench = try Workbench()
        try bench.describe("v1", extra: #"allow-secrets: ["app/*.pem", "/other.pem"]"#)
        try bench.write(Self.pem, to: "v1/web/app/demo.pem")
        let made = try await bench.release("v1", to: "out").made
        #expect(
            made.warnings.map { "\($0)".replacing("\(bench.folder)/v1/", with: "") } == [
                "release.yaml:12: patches[2].allow-secrets[1] matches no file with a secret in web: /other.pem"
            ]
        )
        try bench.describe("v2")
        try bench.write(Self.pem, to: "v2/web/app/demo.pem")
        try bench.write("t = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'", to: "v2/web/t.js")
        let web = bench.folder.appending("v2/web")
        #expect(
            await bench.problem("v2")
                == .several([
                    .secret(web.appending("app/demo.pem"), .privateKey(.pem)),
                    .secret(web.appending("t.js"), .token(.gitHub)),
                ])
        )
    }
}

@Suite("Code that compares the host's name with localhost")
struct HostNameTests {
    private func places(_ text: String) -> [Int] {
        var search = ContentSearch(.code)
        search.take(Array(text.utf8))
        return search.finish().hostNames
    }

    @Test(arguments: [
        "location.hostname === 'localhost'", "if(\"localhost\"==window.location.hostname){}",
        "location.hostname!=='127.0.0.1'",
        "const e=location.hostname;return \"localhost\"===e", "['localhost'].includes(location.hostname)",
        "switch (location.hostname) { case 'localhost': x() }", "/localhost/.test(location.hostname)",
        "location.hostname.startsWith('localhost')", "location.hostname.match(/^127(?:\\.[0-9]+){3}$/)",
        "location.hostname.match(/^(localhost)$/)", "new Set(['localhost']).has(location.hostname)",
    ])
    func `is found`(text: String) {
        #expect(places(text).count == 1)
    }

    @Test(arguments: [
        "location.hostname || 'localhost'", "fetch('http://localhost:3000/' + location.hostname)",
        "x === 'localhost'", "// location.hostname is localhost there",
    ])
    func `is no other use of the name`(text: String) {
        #expect(places(text).isEmpty)
    }

    @Test func `is named by file, line and column, five of a bundle`() async throws {
        let bench = try Workbench()
        try bench.describe("v1", main: "a()\n  if (location.hostname === 'localhost') b()")
        let lines = (1...6).map { "x\($0) = location.hostname === 'localhost'" }.joined(separator: "\n")
        try bench.write(lines, to: "v1/web/more.js")
        let made = try await bench.release("v1", to: "out").made
        #expect(
            made.warnings.map { "\($0)".replacing("\(bench.folder)/v1/", with: "") } == [
                "release.yaml:9: patches[2].folder: the host's name is compared with localhost at app/main.js:2:30, more.js:1:29, "
                    + "more.js:2:29, more.js:3:29, more.js:4:29 and 2 more; a device's pages are at NAME.localhost, so they are "
                    + "treated as on a public site: `patchsync set --host localhost` opens them at localhost"
            ]
        )
    }
}
