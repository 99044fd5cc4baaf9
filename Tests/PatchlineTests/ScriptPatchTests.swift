import PatchChoice
import DeviceTesting
import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import PatchCrypto
import Testing

@testable import AssetServer
import PageTesting
@testable import Patchline

/// Script patches are given to whoever runs them, and nothing but what was signed is.
@Suite("A script patch on the local server", .timeLimit(.minutes(10)))
struct ScriptPatchTests {
    private static let fix = SHA256Digest(of: Array("one;".utf8))

    /// Two scripts and a bundle run, confirmed.
    private func running() async throws -> (Launched, RunningApp) {
        let world = try Launched()
        world.repository.publish([
            .script("fix", "1", "one;"), .script("tip.x", "1", "tip;"), .bundle("web", "1", ["index.html": "<p>"]),
        ])
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        let app = world.app(start: .firstPage)
        try await app.launch()
        return (world, app)
    }

    private func list(_ world: Launched) async throws -> [String] {
        let answer = try #require(try await world.server.get("/__patchline/scripts.json").bytes)
        #expect(answer.contentType == "application/json" && answer.entityTag?.count == 64)
        let fields = try Fields(try JSON.document(answer.bytes, named: "list", limit: 10_000), of: "list")
        return try fields.array("scripts", limit: 100).map { value in
            let row = try Fields(value, of: "list")
            return try [row.string("patchId"), row.string("version"), row.string("sha256"), row.string("url")]
                .joined(separator: " ")
        }
    }

    @Test func `is listed, and given out under its digest as the tag`() async throws {
        let (world, _) = try await running()
        let tip = SHA256Digest(of: Array("tip;".utf8))
        #expect(
            try await list(world) == [
                "fix 1 \(Self.fix) /__patchline/scripts/fix.js", "tip.x 1 \(tip) /__patchline/scripts/tip.x.js",
            ]
        )
        let file = try #require(try await world.server.get("/__patchline/scripts/fix.js").file)
        #expect(file.entityTag == Self.fix.hex && file.contentType == "text/javascript" && file.size == 4)
        #expect(file.cacheControl == "no-cache")
        #expect(try world.disk.read(file.path, limit: 10) == Array("one;".utf8))
        #expect(try await world.server.get("/__patchline/scripts/tip.x.js").file?.entityTag == tip.hex)
    }

    @Test(arguments: [
        ("/__patchline/scripts/web.js", "404"), ("/__patchline/scripts/other.js", "404"),
        ("/__patchline/scripts/fix", "404"), ("/__patchline/scripts/fix.js/", "404"), ("/__patchline/scripts", "404"),
        ("/__patchline/scripts/a/fix.js", "404"), ("/__patchline/scripts/.js", "404"),
    ])
    func `is not found under another name, and no bundle is a script`(target: String, expected: String) async throws {
        let (world, _) = try await running()
        #expect(try await world.server.get(target).summary == expected)
    }

    @Test func `is only read, as its list is`() async throws {
        let (world, _) = try await running()
        for target in ["/__patchline/scripts/fix.js", "/__patchline/scripts.json"] {
            #expect(try await world.server.get(target, method: .POST).summary == "405")
        }
    }

    @Test func `that was altered is not given out, and told, until a sync has mended it`() async throws {
        let (world, app) = try await running()
        #expect(await world.nextEvents(1) == ["serving fix 1, tip.x 1, web 1"])
        let path = world.device.store.objects.path(of: Self.fix)
        for bytes in [Array("two;".utf8), []] {
            try world.disk.overwrite(path, with: bytes)
            let answer = try #require(try await world.server.get("/__patchline/scripts/fix.js").bytes)
            #expect(answer.status == .serviceUnavailable && answer.headers.first(name: "Retry-After") == "5")
            #expect(String(decoding: answer.bytes, as: UTF8.self).contains("fix 1 is damaged on this device"))
        }
        #expect(await world.nextEvents(1) == ["damaged fix 1"])
        #expect(try world.device.device.scripts().map { $0.file == nil } == [true, false])
        try await world.device.sync()
        #expect(try await world.server.get("/__patchline/scripts/fix.js").file?.entityTag == Self.fix.hex)
        #expect(try world.device.device.scripts().allSatisfy { $0.file != nil })
        _ = app
    }

    @Test func `of a version that waits is given out once that runs, and a request for it counts no launch`()
        async throws
    {
        let (world, app) = try await running()
        world.repository.publish([.script("fix", "2", "two;"), .bundle("web", "1", ["index.html": "<p>"])])
        try await world.device.sync()
        #expect(try await world.server.get("/__patchline/scripts/fix.js").file?.entityTag == Self.fix.hex)
        #expect(
            try world.device.device.scripts().map { "\($0.patch.label) \($0.isPending)" } == [
                "fix 1 false", "tip.x 1 false", "fix 2 true",
            ]
        )
        try await app.startPending()
        #expect(try await list(world).map { $0.prefix(5) } == ["fix 2"])
        let file = try #require(try await world.server.get("/__patchline/scripts/fix.js").file)
        #expect(file.entityTag == SHA256Digest(of: Array("two;".utf8)).hex)
        guard case .trying(_, _, let launch) = try world.device.device.state().machine.state else {
            Issue.record("no trial")
            return
        }
        #expect(!launch.isCounted && launch.launches == 0)
    }

    @Test func `is the only thing there is where no bundle is listed`() async throws {
        let world = try Launched()
        world.repository.publish([.script("fix", "1", "one;")])
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        try await world.app().launch()
        #expect(try await world.server.get("/__patchline/scripts/fix.js").file?.entityTag == Self.fix.hex)
        #expect(try await world.server.get("/").summary == "503")
    }

    @Test func `of a bundle that nobody has is asked for in vain, and that is told`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let app = world.app(changing: { $0.bundle = name("typo") })
        try await app.launch()
        #expect(await world.nextEvents(2) == ["no bundle typo, but web", "serving web 1"])
    }
}
