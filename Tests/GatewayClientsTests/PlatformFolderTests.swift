import Gateways
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import SystemPackage
import Testing

@testable import GatewayClients

/// Packages of JSPatch's platform, by the loader's samples' key.
enum PlatformSamples {
    static let keyText = "0a1b2c3d4e5f6071"

    static func cipher() throws -> AESKey { try #require(AESKey(Array(keyText.utf8))) }

    /// The bytes of `fileN`, of scripts by name.
    static func package(_ scripts: [String: String], for place: LoaderPlace?) async throws -> [UInt8] {
        var named: [ScriptName: [UInt8]] = [:]
        for (name, text) in scripts { named[try #require(ScriptName(name))] = Array(text.utf8) }
        let encrypted = try LoaderScripts(named, for: place).encrypted(with: cipher())
        let signature = try await LoaderSamples.key.value
            .signJSPatch(.md5, of: LoaderPackage.fingerprint(of: encrypted))
        return try PlatformPackage(scripts: encrypted, signature: signature).bytes()
    }

    static func update(_ scripts: [String: String], _ version: Int) async throws -> PlatformUpdate {
        let place = try LoaderSamples.place(version)
        return try PlatformUpdate(
            OpenedPlatformPackage(
                PlatformPackage(await package(scripts, for: place)),
                by: await LoaderSamples.publicKey(),
                openedWith: cipher()
            ),
            asked: place,
            unnamed: .refused
        )
    }
}

@Suite("What a client of JSPatch's platform has installed")
struct PlatformFolderTests {
    private static let root: FilePath = "/app/JSPatch"
    private static let path = root.at("2.1")

    private static func folder(_ files: FaultyFiles) throws -> PlatformFolder {
        PlatformFolder(root, appVersion: try #require(AppVersion("2.1")), files: files)
    }

    private static func version(_ folder: PlatformFolder) throws -> Int? {
        guard let found = try folder.package() else { return nil }
        return found.version.number
    }

    @Test func `is nothing at first`() throws {
        let folder = try Self.folder(FaultyFiles())
        #expect(try folder.installed() == .nothing && folder.device() == nil && Self.version(folder) == nil)
        // And nothing is made by deleting it.
        let files = FaultyFiles()
        try Self.folder(files).delete()
        #expect(files.changes == 0)
    }

    @Test func `is one version, as it came, and none of the version before`() async throws {
        let files = FaultyFiles()
        let folder = try Self.folder(files)
        try folder.install(await PlatformSamples.update(["main.js": "one()"], 1))
        let second = try await PlatformSamples.update(["main.js": "two()"], 3)
        try folder.install(second)
        #expect(try folder.package()?.package == second.package && Self.version(folder) == 3)
        #expect(try files.list(Self.path) == ["state.json", "v3"])
        #expect(try files.list(Self.path.at("v3")) == ["key", "scripts"])
        let changes = files.changes
        try folder.install(second)
        #expect(files.changes == changes, "what runs is not written again")
    }

    @Test func `is nothing once it is deleted, but for the number`() async throws {
        let files = FaultyFiles()
        let folder = try Self.folder(files)
        try folder.install(await PlatformSamples.update(["main.js": "one()"], 3))
        try folder.delete()
        #expect(try Self.version(folder) == nil && folder.installed().highest?.number == 3)
        #expect(try files.list(Self.path) == ["state.json"])
        let changes = files.changes
        try folder.delete()
        #expect(files.changes == changes)
    }

    @Test func `is the old version or the new one, wherever the update stops`() async throws {
        let (first, second) = (
            try await PlatformSamples.update(["main.js": "one()"], 1),
            try await PlatformSamples.update(["main.js": "2"], 2)
        )
        try Self.sweep(from: first, to: 2) { folder throws(PlatformClientError) in try folder.install(second) }
        #expect(first.package != second.package)
    }

    @Test func `is there or deleted, wherever the deletion stops`() async throws {
        let first = try await PlatformSamples.update(["main.js": "one()"], 1)
        try Self.sweep(from: first, to: nil) { folder throws(PlatformClientError) in try folder.delete() }
    }

    /// Stops a change at each of its steps: what is there before or afterwards is left, and the change can be made then.
    private static func sweep(
        from first: PlatformUpdate,
        to last: Int?,
        _ change: (PlatformFolder) throws(PlatformClientError) -> Void
    ) throws {
        let prepared = FaultyFiles()
        try folder(prepared).install(first)
        let before = prepared.crashed(.keep)
        let whole = before.reopened()
        try change(folder(whole))
        func check(_ files: FaultyFiles, isDone: Bool, _ step: Int) throws {
            let found = try version(folder(files))
            #expect(found == last || !isDone && found == 1, "step \(step)")
            if found == 1 { #expect(try folder(files).package()?.package == first.package, "step \(step)") }
        }
        for step in 1...(whole.changes + 1) {
            for after in [FaultyFiles.AfterFailure.stopped, .running] {
                let stopped = before.reopened(failingAtChange: step, then: after)
                let isDone = (try? change(folder(stopped))) != nil
                try check(stopped.reopened(), isDone: isDone, step)
                for survival in FaultyFiles.Survival.allCases {
                    let left = stopped.crashed(survival)
                    try check(left, isDone: isDone, step)
                    guard try version(folder(left)) == 1 else { continue }
                    try change(folder(left))
                    try check(left.crashed(.lose), isDone: true, step)
                    #expect(try left.list(path) == ["state.json"] + (last.map { ["v\($0)"] } ?? []), "step \(step)")
                }
            }
        }
    }

    @Test func `is told where a record was altered, and nothing is installed over it`() async throws {
        let files = FaultyFiles()
        let folder = try Self.folder(files)
        try folder.install(await PlatformSamples.update(["main.js": "one()"], 1))
        try files.overwrite(Self.path.at("state.json"), with: Array("{}".utf8))
        let rule = "must be an integer from 1 to 999999999"
        let error = PlatformClientError.record(
            FormatError("state of the platform's client", field: "highest", rule: rule)
        )
        let update = try await PlatformSamples.update(["main.js": "two()"], 2)
        #expect(throws: error) { try folder.package() }
        #expect(throws: error) { try folder.install(update) }
        #expect(throws: error) { try folder.delete() }
        try folder.save(PlatformDevice(draw: #require(PlatformDraw(3))))
        try files.overwrite(Self.root.at("device.json"), with: Array("{}".utf8))
        #expect(
            throws: PlatformClientError.record(
                FormatError("record of the platform's client", field: "draw", rule: "must be an integer from 1 to 10")
            )
        ) { try folder.device() }
    }
}
