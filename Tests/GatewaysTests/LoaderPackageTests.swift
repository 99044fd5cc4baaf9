import Gateways
import PatchFormat
import PatchCrypto
import PatchTesting
import Testing

/// A key pair of openssl's, as large as apps in the field have them or larger.
struct LoaderKey: Sendable {
    let pem: [UInt8]
    let key: JSPatchPrivateKey

    /// One of 1,024 bits for all tests: small keys are quick, and nothing else depends on it.
    static let shared = Task { try await LoaderKey(bits: 1_024) }

    init(bits: Int) async throws {
        let bench = try Bench()
        try bench.run("openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:\(bits) -out key")
        pem = try bench.read("key")
        key = try JSPatchPrivateKey(pem: pem, passphrase: nil)
    }
}

extension LoaderPlace {
    init(_ appVersion: String, _ version: Int) throws {
        self.init(try #require(AppVersion(appVersion)), try #require(LoaderVersion(version)))
    }
}

extension LoaderScripts {
    init(_ scripts: [String: String], for place: LoaderPlace? = nil) throws {
        var named: [ScriptName: [UInt8]] = [:]
        for (name, text) in scripts { named[try #require(ScriptName(name))] = Array(text.utf8) }
        try self.init(named, for: place)
    }

    func package(signedBy key: JSPatchPrivateKey) throws -> LoaderPackage {
        let archive = try archive()
        return LoaderPackage(
            scriptArchive: archive,
            signature: try key.sign(.md5, of: LoaderPackage.fingerprint(of: archive))
        )
    }
}

@Suite("A package of JSPatch's loader")
struct LoaderPackageTests {
    private static let scripts = ["main.js": "include('cart.js')\n", "cart.js": "total()\n"]

    @Test(arguments: [1_024, 2_048])
    func `is script.zip and key and nothing else, as unzip and openssl see it`(_ bits: Int) async throws {
        let key = try await LoaderKey(bits: bits)
        let bench = try Bench()
        try bench.write(try LoaderScripts(Self.scripts).package(signedBy: key.key).bytes(), to: "v2.zip")
        try bench.write(key.pem, to: "private.pem")
        #expect(try bench.run("unzip -Z1 v2.zip | sort") == "key\nscript.zip\n")
        try bench.run("unzip -q v2.zip; openssl pkey -in private.pem -pubout -out public.pem")
        #expect(try bench.read("key").count == bits / 8)
        let recovered = try bench.run("openssl pkeyutl -verifyrecover -pubin -inkey public.pem -in key")
        #expect(try bench.run("md5sum script.zip").hasPrefix(recovered) && recovered.utf8.count == 32)
        try bench.run(
            """
            printf %s "$(md5sum script.zip | cut -d' ' -f1)" >m
            openssl pkeyutl -sign -inkey private.pem -in m -out theirs; cmp key theirs
            """
        )
        #expect(try bench.run("unzip -Z1 script.zip") == "cart.js\nmain.js\n")
    }

    /// What JSPatch's packer does: `zip` twice, and the private operation over the MD5 in between.
    private static func packed(_ files: String, by key: LoaderKey, in bench: Bench) async throws {
        try bench.write(key.pem, to: "private.pem")
        try bench.run(
            """
            zip -q script.zip \(files)
            printf %s "$(md5sum script.zip | cut -d' ' -f1)" >m
            openssl pkeyutl -sign -inkey private.pem -in m -out key
            zip -q v1 script.zip key
            """
        )
    }

    @Test func `that zip and openssl made is read: scripts by their last name, and nothing else`() async throws {
        let key = try await LoaderKey.shared.value
        let bench = try Bench()
        try bench.run("mkdir src; echo 'total()' >src/cart.js; echo 'main()' >main.js; echo hi >notes.txt")
        try await Self.packed("main.js src/cart.js src notes.txt", by: key, in: bench)
        let verified = try VerifiedScripts(LoaderPackage(try bench.read("v1.zip")), by: key.key.publicKey)
        #expect(try verified.scripts == LoaderScripts(["main.js": "main()\n", "cart.js": "total()\n"]))
        #expect(verified.scripts.place == nil)
    }

    @Test func `says what it is for in a file that JSPatch's loader passes over`() async throws {
        let (key, place) = (try await LoaderKey.shared.value.key, try LoaderPlace("2.1", 3))
        let package = try LoaderScripts(Self.scripts, for: place).package(signedBy: key)
        let bench = try Bench()
        try bench.write(package.scriptArchive, to: "script.zip")
        #expect(try bench.run("unzip -Z1 script.zip") == "cart.js\nmain.js\npatchline.json\n")
        #expect(try bench.run("unzip -p script.zip patchline.json") == #"{"appVersion":"2.1","version":3}"#)
        #expect(try VerifiedScripts(LoaderPackage(package.bytes()), by: key.publicKey).scripts.place == place)
        #expect(place.path == "2.1/v3.zip")
    }

    @Test func `has the same bytes for the same scripts`() async throws {
        let key = try await LoaderKey.shared.value.key
        let first = try LoaderScripts(Self.scripts, for: LoaderPlace("2.1", 3)).package(signedBy: key)
        #expect(try LoaderScripts(Self.scripts, for: LoaderPlace("2.1", 3)).package(signedBy: key) == first)
        #expect(try first.bytes() == LoaderPackage(first.bytes()).bytes())
    }

    @Test func `is made of UTF-8 scripts, one of them main.js`() throws {
        #expect(throws: LoaderError.noMain) { try LoaderScripts(["cart.js": "1"]) }
        #expect(throws: LoaderError.notUTF8("main.js")) { try LoaderScripts([.main: [0xFF]], for: nil) }
        let many = Dictionary(uniqueKeysWithValues: (0...1_000).map { ("s\($0).js", "") })
        #expect(throws: LoaderError.tooMany(1_001, limit: 1_000)) { try LoaderScripts(many) }
    }

    @Test func `has no scripts by other names than NAME.js`() {
        for name in ["", ".js", "a.json", "a.JS", "a/b.js", "../a.js", "a\u{0}.js", "a\\b.js", "main.js/"] {
            #expect(ScriptName(name) == nil, "\(name)")
        }
        #expect(["main.js", "größe.js", "a.b.js", ".a.js"].allSatisfy { ScriptName($0) != nil })
    }
}

@Suite("A hostile package of JSPatch's loader")
struct HostilePackageTests {
    private static let good: [(String, String)] = [("main.js", "main()")]

    /// A package of these files in its archive of scripts, rightly signed.
    private static func package(
        _ files: [(String, String)],
        by key: JSPatchPrivateKey
    ) throws -> LoaderPackage {
        let archive = try ZipArchive(try files.map { try ZipArchive.File($0.0, $0.1) }).bytes()
        return LoaderPackage(
            scriptArchive: archive,
            signature: try key.sign(.md5, of: LoaderPackage.fingerprint(of: archive))
        )
    }

    private static func refusal(_ files: [(String, String)]) async throws -> LoaderError? {
        let key = try await LoaderKey.shared.value.key
        let bytes = try package(files, by: key).bytes()
        do throws(LoaderError) {
            _ = try VerifiedScripts(LoaderPackage(bytes), by: key.publicKey)
            return nil
        } catch { return error }
    }

    @Test func `that lacks a part, has a third one, or is no archive is an unzip error`() async throws {
        let key = try await LoaderKey.shared.value.key
        let whole = try Self.package(Self.good, by: key)
        func outer(_ files: [(String, [UInt8])]) throws -> [UInt8] {
            try ZipArchive(try files.map { .init(try AssetPath($0.0), $0.1) }).bytes()
        }
        let (script, sign) = (("script.zip", whole.scriptArchive), ("key", whole.signature))
        for (bytes, error) in [
            (try outer([script]), LoaderError.missing("key")), (try outer([sign]), .missing("script.zip")),
            (try outer([script, sign, ("evil.zip", [])]), .unknown("evil.zip")),
            (try outer([("a/script.zip", whole.scriptArchive), sign]), .missing("script.zip")),
            (Array("<html>404</html>".utf8), .archive(nil, .noEnd)),
            (
                [UInt8](repeating: 0, count: Limits.loaderPackage + 1),
                .archive(nil, .tooLarge(limit: Limits.loaderPackage))
            ),
        ] {
            #expect(throws: error) { try LoaderPackage(bytes) }
            #expect(error.code.rawValue == -1_001 && LoaderError.domain == "org.jspatch")
        }
    }

    @Test func `with scripts that no loader should run is an unzip error`() async throws {
        for (files, error) in [
            ([("cart.js", "1")], LoaderError.noMain), ([], .noMain),
            (Self.good + [("a/main.js", "evil()")], .twice("main.js")),
            (
                Self.good + [("patchline.json", "{}")],
                .record(FormatError("patchline.json", field: "appVersion", rule: "must be a string"))
            ),
            (
                Self.good + [("patchline.json", #"{"appVersion":"2.x","version":1}"#)],
                .record(FormatError("patchline.json", field: "appVersion", rule: AppVersion.rule))
            ),
            (
                Self.good + [("patchline.json", #"{"appVersion":"2","version":0}"#)],
                .record(FormatError("patchline.json", field: "version", rule: "must be an integer from 1 to 999999999"))
            ),
            (
                Self.good + [("patchline.json", #"{"version":1,"appVersion":"2"}"#)],
                .record(
                    FormatError(
                        "patchline.json",
                        rule: "must hold appVersion and version alone, as canonical JSON"
                    )
                )
            ),
        ] {
            let found = try await Self.refusal(files)
            #expect(found == error)
            #expect(found?.code == .unzipFailed)
        }
        // A folder's own record is no package's.
        #expect(try await Self.refusal(Self.good + [("a/patchline.json", "{}")]) == nil)
    }

    @Test func `is not opened before its signature holds, and that is a verify error`() async throws {
        let (key, other) = (try await LoaderKey.shared.value.key, try await LoaderKey(bits: 1_024).key)
        let package = try Self.package([("cart.js", "no main")], by: key)
        #expect(throws: LoaderError.noMain) { try VerifiedScripts(package, by: key.publicKey) }
        let error = #expect(throws: LoaderError.self) { try VerifiedScripts(package, by: other.publicKey) }
        #expect(error?.code.rawValue == -1_002)
        let altered = LoaderPackage(scriptArchive: package.scriptArchive + [0], signature: package.signature)
        let found = Fingerprint(of: altered.scriptArchive).md5.hex
        let signed = Fingerprint(of: package.scriptArchive).md5.hex
        #expect(throws: LoaderError.signature(.otherDigest(signed: signed, found: found))) {
            try VerifiedScripts(altered, by: key.publicKey)
        }
        let short = LoaderPackage(scriptArchive: package.scriptArchive, signature: [1])
        #expect(throws: LoaderError.signature(.length(1, expected: 128))) {
            try VerifiedScripts(short, by: key.publicKey)
        }
    }
}

@Suite("What a loader installs")
struct LoaderUpdateTests {
    private static func update(
        _ named: LoaderPlace?,
        asked place: LoaderPlace,
        installed: Int? = nil,
        unnamed: LoaderUpdate.Unnamed = .refused
    ) async throws -> Result<LoaderUpdate, LoaderError> {
        let key = try await LoaderKey.shared.value.key
        let package = try LoaderScripts(["main.js": "main()"], for: named).package(signedBy: key)
        let verified = try VerifiedScripts(package, by: key.publicKey)
        return Result { () throws(LoaderError) in
            try LoaderUpdate(
                verified,
                asked: place,
                installed: installed.flatMap { LoaderVersion($0) },
                unnamed: unnamed
            )
        }
    }

    @Test func `is a package that says it is what was asked for, and newer than what is there`() async throws {
        let place = try LoaderPlace("2.1", 3)
        for installed in [nil, 1, 2] {
            let update = try await Self.update(place, asked: place, installed: installed).get()
            #expect(update.place == place && update.scripts == [.main: Array("main()".utf8)])
        }
    }

    @Test func `is no older one and not the same again`() async throws {
        let place = try LoaderPlace("2.1", 3)
        for installed in [3, 4] {
            let error = LoaderError.notNewer(place.version, installed: try #require(LoaderVersion(installed)))
            #expect(try await Self.update(place, asked: place, installed: installed) == .failure(error))
            #expect(try await Self.update(nil, asked: place, installed: installed, unnamed: .taken) == .failure(error))
            #expect(error.code.rawValue == -1_003)
        }
    }

    /// An old signed zip under a new name (JSPatch's own installs it), or under another app version's.
    @Test func `is no package of another version or app version, whatever is allowed`() async throws {
        let place = try LoaderPlace("2.1", 99)
        for other in [try LoaderPlace("2.1", 3), try LoaderPlace("2.0", 99), try LoaderPlace("2.1.0", 99)] {
            for unnamed in [LoaderUpdate.Unnamed.refused, .taken] {
                let found = try await Self.update(other, asked: place, unnamed: unnamed)
                #expect(found == .failure(.moved(place, from: other)))
            }
        }
        #expect(LoaderError.moved(place, from: place).code.rawValue == -1_002)
    }

    @Test func `is a package that says nothing of itself only where that is allowed`() async throws {
        let place = try LoaderPlace("2.1", 3)
        #expect(try await Self.update(nil, asked: place) == .failure(.unnamed(place)))
        #expect(try await Self.update(nil, asked: place, unnamed: .taken).get().place == place)
        #expect(LoaderError.unnamed(place).code.rawValue == -1_002)
    }

    @Test func `is numbered from 1 to 999999999`() {
        for text in ["", "0", "01", "1.0", "-1", "+1", " 1", "1000000000", "９"] { #expect(LoaderVersion(text) == nil) }
        #expect(LoaderVersion("1")?.number == 1 && LoaderVersion("999999999")?.description == "999999999")
        #expect(LoaderVersion(0) == nil && LoaderVersion(1_000_000_000) == nil)
    }
}
