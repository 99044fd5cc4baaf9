import Gateways
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import SystemPackage
import Testing

@testable import GatewayClients

/// A key that signs packages; testing keys are large enough, and nothing here depends on the size.
enum LoaderSamples {
    static let folder: FilePath = "/app/JSPatch/2.1"
    static let key = Task { try PrivateKey.generate(.rsa(bits: 2_048)) }

    static func place(_ version: Int, _ appVersion: String = "2.1") throws -> LoaderPlace {
        LoaderPlace(try #require(AppVersion(appVersion)), try #require(LoaderVersion(version)))
    }

    /// The bytes of `vN.zip`, of scripts by name.
    static func package(_ scripts: [String: String], for place: LoaderPlace?) async throws -> [UInt8] {
        var named: [ScriptName: [UInt8]] = [:]
        for (name, text) in scripts { named[try #require(ScriptName(name))] = Array(text.utf8) }
        let archive = try LoaderScripts(named, for: place).archive()
        let signature = try await key.value.signJSPatch(.md5, of: LoaderPackage.fingerprint(of: archive))
        return try LoaderPackage(scriptArchive: archive, signature: signature).bytes()
    }

    static func publicKey() async throws -> JSPatchPublicKey { try JSPatchPublicKey(await key.value.publicKey) }

    static func update(_ scripts: [String: String], _ version: Int) async throws -> LoaderUpdate {
        let place = try place(version)
        return try LoaderUpdate(
            VerifiedScripts(LoaderPackage(await package(scripts, for: place)), by: await publicKey()),
            asked: place,
            installed: nil,
            unnamed: .refused
        )
    }
}

@Suite("What a loader has installed")
struct LoaderFolderTests {
    private static let first = ["main.js": "one()", "old.js": "old()", "both.js": "1"]
    private static let second = ["main.js": "two()", "new.js": "new()", "both.js": "2"]

    private static func folder(_ files: FaultyFiles) -> LoaderFolder {
        LoaderFolder(LoaderSamples.folder, files: files)
    }

    @Test func `is nothing at first`() throws {
        let folder = Self.folder(FaultyFiles())
        #expect(try folder.installed() == nil && folder.scripts() == nil)
    }

    @Test func `is one version's scripts and none of the version before`() async throws {
        let files = FaultyFiles()
        let folder = Self.folder(files)
        try folder.install(await LoaderSamples.update(Self.first, 1))
        let before = try #require(try folder.scripts())
        try folder.install(await LoaderSamples.update(Self.second, 3))
        let scripts = try #require(try folder.scripts())
        #expect(scripts.version.number == 3 && scripts.main == "two()")
        #expect(scripts.include("new.js") == "new()" && scripts.include("both.js") == "2")
        #expect(scripts.include("old.js") == nil)
        #expect(try files.list(LoaderSamples.folder) == ["v3", "version"])
        #expect(try files.list(LoaderSamples.folder.at("v3")) == ["both.js", "main.js", "new.js"])
        // What runs keeps its own.
        #expect(before.main == "one()" && before.include("old.js") == "old()" && before.include("both.js") == "1")
    }

    @Test func `is found by include by a script's own name alone`() async throws {
        let folder = Self.folder(FaultyFiles())
        try folder.install(await LoaderSamples.update(Self.first, 1))
        let scripts = try #require(try folder.scripts())
        for name in ["", "old", "./old.js", "/old.js", "../v1/old.js", "../version", "v1/old.js", "OLD.js", "a.js"] {
            #expect(scripts.include(name) == nil, "\(name)")
        }
    }

    @Test func `is not gone back from, nor installed twice`() async throws {
        let folder = Self.folder(FaultyFiles())
        try folder.install(await LoaderSamples.update(Self.second, 3))
        for version in [2, 3] {
            let error = LoaderError.notNewer(try LoaderSamples.place(version).version, installed: try version3())
            let update = try await LoaderSamples.update(Self.first, version)
            #expect(throws: LoaderClientError.package(error)) { try folder.install(update) }
        }
        #expect(try folder.scripts()?.main == "two()")
    }

    private func version3() throws -> LoaderVersion { try LoaderSamples.place(3).version }

    @Test func `is the old version or the new one, wherever the update stops`() async throws {
        let (first, second) = (
            try await LoaderSamples.update(Self.first, 1), try await LoaderSamples.update(Self.second, 2)
        )
        let prepared = FaultyFiles()
        try Self.folder(prepared).install(first)
        let before = prepared.crashed(.keep)
        let whole = before.reopened()
        try Self.folder(whole).install(second)
        func check(_ files: FaultyFiles, isDone: Bool, _ change: Int) throws {
            let scripts = try #require(try Self.folder(files).scripts(), "change \(change)")
            #expect(isDone ? scripts.version.number == 2 : (1...2).contains(scripts.version.number))
            let expected = scripts.version.number == 1 ? first : second
            #expect(scripts.scripts == expected.scripts, "change \(change)")
        }
        for change in 1...(whole.changes + 1) {
            for after in [FaultyFiles.AfterFailure.stopped, .running] {
                let stopped = before.reopened(failingAtChange: change, then: after)
                let isDone = (try? Self.folder(stopped).install(second)) != nil
                try check(stopped.reopened(), isDone: isDone, change)
                for survival in FaultyFiles.Survival.allCases {
                    let left = stopped.crashed(survival)
                    try check(left, isDone: isDone, change)
                    // The next start installs it, whatever lies around.
                    guard try Self.folder(left).installed() == first.place.version else { continue }
                    try Self.folder(left).install(second)
                    try check(left.crashed(.lose), isDone: true, change)
                    #expect(try left.list(LoaderSamples.folder) == ["v2", "version"], "change \(change)")
                }
            }
        }
    }

    @Test func `is told where its record was altered, and nothing is installed over it`() async throws {
        let files = FaultyFiles()
        let folder = Self.folder(files)
        try folder.install(await LoaderSamples.update(Self.first, 1))
        let record = LoaderSamples.folder.at("version")
        for text in ["", "1", "x\n", "0\n", "01\n"] {
            try files.overwrite(record, with: Array(text.utf8))
            #expect(throws: LoaderClientError.record(record)) { try folder.scripts() }
            let update = try await LoaderSamples.update(Self.second, 2)
            #expect(throws: LoaderClientError.record(record)) { try folder.install(update) }
        }
    }
}
