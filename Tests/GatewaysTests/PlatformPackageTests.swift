import Gateways
import PatchCompression
import PatchFormat
import PatchCrypto
import PatchTesting
import Testing

extension AESKey {
    static let text = "0a1b2c3d4e5f6071"
    static func tests() throws -> AESKey { try #require(AESKey(Array(text.utf8))) }
}

extension LoaderScripts {
    func platformPackage(signedBy key: JSPatchPrivateKey, encryptedBy cipher: AESKey) throws -> PlatformPackage {
        try PlatformPackage(encrypting: encrypted(with: cipher), signedBy: key)
    }
}

extension PlatformPackage {
    /// Of whatever stands there as `scripts`, rightly signed.
    init(encrypting scripts: [UInt8], signedBy key: JSPatchPrivateKey) throws {
        self.init(scripts: scripts, signature: try key.sign(.md5, of: LoaderPackage.fingerprint(of: scripts)))
    }
}

@Suite("A package of JSPatch's platform")
struct PlatformPackageTests {
    private static let scripts = ["main.js": "include('cart.js')\n", "cart.js": "total()\n"]

    @Test(arguments: [1_024, 2_048])
    func `is what tar, openssl and gunzip take`(_ bits: Int) async throws {
        let key = try await LoaderKey(bits: bits)
        let bench = try Bench()
        let package = try LoaderScripts(Self.scripts, for: LoaderPlace("2.1", 3))
            .platformPackage(signedBy: key.key, encryptedBy: .tests())
        try bench.write(package.bytes(), to: "file3")
        try bench.write(key.pem, to: "private.pem")
        #expect(try bench.run("tar -tf file3") == "key\nscripts\n")
        try bench.run("tar -xf file3; openssl pkey -in private.pem -pubout -out public.pem")
        #expect(try bench.read("key").count == bits / 8)
        let recovered = try bench.run("openssl pkeyutl -verifyrecover -pubin -inkey public.pem -in key")
        #expect(try bench.run("md5sum scripts").hasPrefix(recovered) && recovered.utf8.count == 32)
        let opening = """
            openssl enc -d -aes-128-cbc -K "$(printf %s \(AESKey.text) | od -An -tx1 | tr -d ' ')" \
            -iv 00000000000000000000000000000000 -in scripts | gunzip >scripts.tar
            tar -tf scripts.tar
            """
        #expect(try bench.run(opening) == "cart.js\nmain.js\npatchline.json\n")
        #expect(try bench.run("tar -xf scripts.tar; cat main.js cart.js") == "include('cart.js')\ntotal()\n")
        #expect(try bench.run("cat patchline.json") == #"{"appVersion":"2.1","version":3}"#)
    }

    @Test func `that tar, gzip and openssl made is read`() async throws {
        let key = try await LoaderKey.shared.value
        let bench = try Bench()
        try bench.write(key.pem, to: "private.pem")
        try bench.run(
            """
            echo 'main()' >main.js; echo 'total()' >cart.js; echo hi >notes.txt
            tar -cf in.tar main.js cart.js notes.txt; gzip in.tar
            openssl enc -aes-128-cbc -K "$(printf %s \(AESKey.text) | od -An -tx1 | tr -d ' ')" \
            -iv 00000000000000000000000000000000 -in in.tar.gz -out scripts
            printf %s "$(md5sum scripts | cut -d' ' -f1)" >m
            openssl pkeyutl -sign -inkey private.pem -in m -out key; tar -cf file1 scripts key
            """
        )
        let opened = try OpenedPlatformPackage(
            PlatformPackage(bench.read("file1")),
            by: key.key.publicKey,
            openedWith: .tests()
        )
        #expect(try opened.scripts == LoaderScripts(["main.js": "main()\n", "cart.js": "total()\n"]))
        #expect(opened.scripts.place == nil)
        #expect(try opened.package.scripts == bench.read("scripts"))
    }

    @Test func `has the same bytes for the same scripts`() async throws {
        let key = try await LoaderKey.shared.value.key
        func made() throws -> PlatformPackage {
            try LoaderScripts(Self.scripts, for: LoaderPlace("2.1", 3))
                .platformPackage(signedBy: key, encryptedBy: .tests())
        }
        #expect(try made().bytes() == made().bytes())
        #expect(try PlatformPackage(made().bytes()) == made())
    }

    @Test func `is not larger than what is read`() {
        let scripts = [UInt8](repeating: 0, count: Limits.loaderPackage)
        #expect(throws: PlatformError.tooLarge(limit: Limits.loaderPackage)) {
            try PlatformPackage(scripts: scripts, signature: [1]).bytes()
        }
    }

    @Test func `is encrypted by sixteen bytes, which nothing prints`() throws {
        for count in [0, 15, 17, 32] { #expect(AESKey([UInt8](repeating: 1, count: count)) == nil) }
        #expect("\(try AESKey.tests())" == "‹key›")
        let key = try AESKey.tests()
        for count in [0, 1, 15, 16, 17, 100_000] {
            let plain = [UInt8](repeating: 7, count: count)
            let closed = key.encrypted(plain)
            #expect(closed.count == (count / 16 + 1) * 16)
            #expect(try key.decrypted(closed) == plain)
        }
        for count in [0, 1, 15, 17] {
            #expect(throws: AESError.length(count)) { try key.decrypted([UInt8](repeating: 1, count: count)) }
        }
        #expect(throws: AESError.padding) { try key.decrypted([UInt8](repeating: 1, count: 32)) }
    }
}

@Suite("A hostile package of JSPatch's platform")
struct HostilePlatformPackageTests {
    private static let good = ["main.js": "main()"]

    /// The error of a rightly signed package with these bytes as `scripts`.
    private static func refusal(_ scripts: [UInt8]) async throws -> PlatformError? {
        let key = try await LoaderKey.shared.value.key
        let (package, cipher) = (try PlatformPackage(encrypting: scripts, signedBy: key), try AESKey.tests())
        do throws(PlatformError) {
            _ = try OpenedPlatformPackage(
                package,
                by: key.publicKey,
                openedWith: cipher
            )
            return nil
        } catch { return error }
    }

    private static func sealed(_ plain: [UInt8]) throws -> [UInt8] {
        try AESKey.tests().encrypted(CompressionFormat.gzip.compressed(plain))
    }

    @Test func `that lacks a part, has a third one, or is no archive has the platform's code for it`() throws {
        func tar(_ names: String...) throws -> [UInt8] { try TarArchive(names.map { try .init($0, [1]) }).bytes }
        let whole = try tar("key", "scripts")
        for (bytes, error, code) in [
            (try tar("key"), PlatformError.noScripts, 5_004), (try tar("scripts"), .noKey, 5_005),
            (try tar(), .noScripts, 5_004),
            (try tar("evil", "key"), .unknown("evil"), 5_001),
            (try tar("evil", "key", "scripts"), .archive(.tooMany(limit: 2)), 5_001),
            (Array("<html>404</html>".utf8), .archive(.length(16)), 5_001), ([], .archive(.length(0)), 5_001),
            (Array(whole.dropLast(512)), .archive(.noEnd), 5_001),
            (Array(whole.prefix(512)), .archive(.entry("key", .breaksOff(1))), 5_001),
            (
                [UInt8](repeating: 0, count: Limits.loaderPackage + 1),
                .archive(.tooLarge(limit: Limits.loaderPackage)), 5_001
            ),
        ] {
            #expect(throws: error) { try PlatformPackage(bytes) }
            #expect(error.code.rawValue == code)
        }
    }

    @Test func `names its errors as the platform does`() {
        #expect(PlatformError.domain == "com.jspatch")
        #expect(
            PlatformError.Code.allCases.map { "\($0.rawValue) \($0.message)" } == [
                "5001 untar", "5002 untar script", "5003 MD5NotMatch", "5004 script file missing",
                "5005 key file missing",
                "5006 decrypt md5", "5007 network",
            ]
        )
    }

    @Test func `does not open, or opens to what nobody runs, and that is an untar script error`() async throws {
        let bomb = [UInt8](repeating: 0, count: Limits.loaderScripts + 512)
        let other = try #require(AESKey(Array("another key 1234".utf8)))
        let packed = try CompressionFormat.gzip.compressed([UInt8](repeating: 0, count: 2_048))
        for (scripts, error) in [
            ([], PlatformError.encryption(.length(0))), ([1, 2, 3], .encryption(.length(3))),
            (try LoaderScripts(Self.good).encrypted(with: other), .encryption(.padding)),
            (
                try AESKey.tests().encrypted(Array("plain".utf8)),
                .compression(.damaged(.gzip, reason: "incorrect header check"))
            ),
            (try AESKey.tests().encrypted(Array(packed.dropLast(9))), .compression(.incomplete(.gzip))),
            (try AESKey.tests().encrypted(packed + [0]), .compression(.damaged(.gzip, reason: "bytes follow its end"))),
            (try Self.sealed(bomb), .compression(.tooLong(.gzip, limit: Limits.loaderScripts))),
            (try Self.sealed(Array("no tar".utf8)), .scriptArchive(.length(6))),
            (try Self.sealed(TarArchive([]).bytes), .scripts(.noMain)),
            (try Self.sealed(TarArchive([.init("main.js", [0xFF])]).bytes), .scripts(.notUTF8("main.js"))),
            (
                try Self.sealed(TarArchive([.init("main.js", []), .init("patchline.json", [])]).bytes),
                .scripts(.record(FormatError("patchline.json", rule: "is not JSON (byte 0)")))
            ),
        ] {
            let found = try await Self.refusal(scripts)
            #expect(found == error)
            #expect(found?.code == .untarScript)
        }
    }

    @Test func `is not decrypted before its signature holds`() async throws {
        let (key, other) = (try await LoaderKey.shared.value.key, try await LoaderKey(bits: 1_024).key)
        let package = try PlatformPackage(encrypting: [1], signedBy: key)
        func error(_ package: PlatformPackage, _ key: JSPatchPrivateKey) throws -> PlatformError? {
            #expect(throws: PlatformError.self) {
                try OpenedPlatformPackage(package, by: key.publicKey, openedWith: .tests())
            }
        }
        #expect(try error(package, key) == .encryption(.length(1)))
        #expect(try error(package, other)?.code.rawValue == 5_006)
        let short = PlatformPackage(scripts: [1], signature: [1])
        #expect(try error(short, key) == .signature(.length(1, expected: 128)))
        let altered = PlatformPackage(scripts: [2], signature: package.signature)
        let (signed, found) = (Fingerprint(of: [1]).md5.hex, Fingerprint(of: [2]).md5.hex)
        #expect(try error(altered, key) == .signature(.otherDigest(signed: signed, found: found)))
        #expect(try error(altered, key)?.code.rawValue == 5_003)
    }
}

@Suite("What a client of JSPatch's platform installs")
struct PlatformUpdateTests {
    private static func update(
        _ named: LoaderPlace?,
        asked place: LoaderPlace,
        unnamed: LoaderUpdate.Unnamed
    ) async throws -> Result<PlatformUpdate, PlatformError> {
        let key = try await LoaderKey.shared.value.key
        let package = try LoaderScripts(["main.js": "main()"], for: named)
            .platformPackage(signedBy: key, encryptedBy: .tests())
        let opened = try OpenedPlatformPackage(package, by: key.publicKey, openedWith: .tests())
        return Result { () throws(PlatformError) in try PlatformUpdate(opened, asked: place, unnamed: unnamed) }
    }

    @Test func `is a package that says it is what was asked for, still encrypted`() async throws {
        let place = try LoaderPlace("2.1", 3)
        for unnamed in [LoaderUpdate.Unnamed.refused, .taken] {
            let update = try await Self.update(place, asked: place, unnamed: unnamed).get()
            #expect(update.place == place)
            #expect(update.package.scripts.count.isMultiple(of: 16))
        }
        #expect(try await Self.update(nil, asked: place, unnamed: .taken).get().place == place)
    }

    @Test func `is no package of another version or app version, nor one that does not say`() async throws {
        let place = try LoaderPlace("2.1", 99)
        for other in [try LoaderPlace("2.1", 3), try LoaderPlace("2.0", 99), try LoaderPlace("2.1.0", 99)] {
            for unnamed in [LoaderUpdate.Unnamed.refused, .taken] {
                let found = try await Self.update(other, asked: place, unnamed: unnamed)
                #expect(found == .failure(.scripts(.moved(place, from: other))))
            }
        }
        #expect(try await Self.update(nil, asked: place, unnamed: .refused) == .failure(.scripts(.unnamed(place))))
        #expect(PlatformError.scripts(.unnamed(place)).code == .otherMD5)
        #expect(PlatformError.scripts(.moved(place, from: place)).code == .otherMD5)
    }
}
