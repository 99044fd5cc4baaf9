import Gateways
import PatchFormat
import Testing

@Suite("What Meteor's client does with a version")
struct MeteorClientRuleTests {
    private let manifest: MeteorManifest
    private let device = MeteorDecision.Device(compatibility: "4017747c", initial: "version1", current: "version1")

    init() throws {
        manifest = try MeteorManifest(MeteorText().bytes, for: .android)
    }

    private func decision(_ change: (inout MeteorDecision.Device) -> Void) throws(MeteorError) -> MeteorDecision {
        var device = device
        change(&device)
        return try MeteorDecision(manifest, on: device)
    }

    @Test func `is to download what it has not`() throws {
        #expect(try decision { _ in } == .download)
        #expect(try decision { $0.downloading = "version3" } == .download)
    }

    @Test func `is nothing while it downloads it, runs it or waits for its switch, even if it is blacklisted`() throws {
        #expect(try decision { ($0.downloading, $0.blacklisted) = ("version2", ["version2"]) } == .ignore)
        #expect(try decision { ($0.current, $0.compatibility) = ("version2", "other") } == .ignore)
        #expect(try decision { $0.pending = "version2" } == .ignore)
    }

    @Test func `is an error when it is blacklisted, and then when it does not fit`() {
        #expect(throws: MeteorError.blacklisted) {
            try decision { ($0.blacklisted, $0.compatibility) = (["version2"], "other") }
        }
        #expect(throws: MeteorError.incompatible) {
            try decision { ($0.compatibility, $0.onDisk) = ("0", ["version2"]) }
        }
        #expect("\(MeteorError.blacklisted)" == "Skipping downloading blacklisted version")
        #expect(
            "\(MeteorError.incompatible)"
                == "Skipping downloading new version because the Cordova platform version or plugin versions have changed "
                + "and are potentially incompatible"
        )
    }

    @Test func `is to take what the app brought or the disk has`() throws {
        #expect(try decision { ($0.initial, $0.current) = ("version2", "version0") } == .ready)
        #expect(try decision { $0.onDisk = ["version2"] } == .ready)
    }

    @Test func `makes a device download no more than it may, by what is announced and by what comes`() throws {
        func asset(_ size: Int?) throws -> MeteorAsset {
            MeteorAsset(path: try AssetPath("a.js"), url: "/a.js", type: "js", isCacheable: true, hash: nil, size: size)
        }
        var budget = MeteorBudget(100)
        try budget.check([asset(60), asset(nil), asset(40)])
        #expect(throws: MeteorError.tooLarge(101, limit: 100)) { try budget.check([asset(60), asset(41)]) }
        #expect(throws: MeteorError.tooLarge(.max, limit: 100)) { try budget.check([asset(.max), asset(1)]) }
        let taken = [budget.take(60), budget.take(40), budget.take(1)]
        #expect(taken == [true, true, false])
        #expect(
            "\(MeteorError.tooLarge(101, limit: 100))"
                == "Skipping downloading new version because its files have 101 bytes; the limit is 100"
        )
        #expect(
            "\(MeteorError.tooLarge(nil, limit: 100))"
                == "Skipping downloading new version because its files exceed the limit of 100 bytes"
        )
    }

    private func by(_ assets: [MeteorAsset]) -> MeteorSource.Assets {
        Dictionary(uniqueKeysWithValues: assets.map { ($0.url, $0) })
    }

    private func asset(_ url: String, _ hash: String?, cacheable: Bool = false) throws -> MeteorAsset {
        let digest = try hash.map { try #require(SHA1Digest(hex: $0)) }
        let path = try AssetPath(String(url.dropFirst()))
        return MeteorAsset(path: path, url: url, type: "js", isCacheable: cacheable, hash: digest)
    }

    @Test
    func `takes an asset of one URL and one hash from the app, then from what it downloaded, the rest from the server`()
        throws
    {
        let wanted = try asset("/a.js", MeteorText.hash)
        let changed = try asset("/a.js", MeteorText.otherHash)
        let moved = try asset("/b.js", MeteorText.hash)
        let other = try asset("/c.js", MeteorText.otherHash)
        #expect(MeteorSource(of: wanted, initial: by([other, wanted]), held: [by([wanted])]) == .initial)
        #expect(
            MeteorSource(of: wanted, initial: by([changed]), held: [by([moved, changed]), by([wanted])]) == .held(1)
        )
        #expect(MeteorSource(of: wanted, initial: by([moved]), held: [by([changed]), [:]]) == .download)
    }

    @Test func `takes what has no hash only where its URL may be kept`() throws {
        let map = try asset("/a.map", nil, cacheable: true)
        #expect(MeteorSource(of: map, initial: by([map]), held: []) == .initial)
        #expect(MeteorSource(of: .indexPage, initial: by([.indexPage]), held: [by([.indexPage])]) == .download)
    }

    @Test func `asks for the page without the word that all else is asked with`() throws {
        #expect(MeteorAsset.indexPage.request == "__cordova/")
        #expect(try asset("/app/a.js", nil).request == "__cordova/app/a.js?meteor_dont_serve_index=true")
    }

    @Test(arguments: [
        #""\#(MeteorText.otherHash)""#, #"W/"\#(MeteorText.otherHash)""#, #"x"y"\#(MeteorText.otherHash)"z"#,
    ])
    func `refuses an answer whose entity tag is another hash`(_ tag: String) throws {
        let asset = try asset("/a.js", MeteorText.hash)
        #expect(throws: MeteorError.hashMismatch(url: "/a.js")) { try asset.check(status: 200, entityTag: tag) }
        #expect("\(MeteorError.hashMismatch(url: "/a.js"))" == "Hash mismatch for asset: /a.js")
    }

    @Test(arguments: [
        nil, #""\#(MeteorText.hash)""#, #"W/"\#(MeteorText.hash)""#, MeteorText.otherHash, #""5f""#, "",
    ])
    func `takes an answer whose entity tag is its hash or none`(_ tag: String?) throws {
        try asset("/a.js", MeteorText.hash).check(status: 200, entityTag: tag)
        try MeteorAsset.indexPage.check(status: 200, entityTag: #""\#(MeteorText.otherHash)""#)
    }

    @Test(arguments: [199, 301, 404, 500])
    func `refuses another status`(_ status: Int) throws {
        let asset = try asset("/a.js", MeteorText.hash)
        #expect(throws: MeteorError.assetStatus(status, url: "/a.js")) {
            try asset.check(status: status, entityTag: nil)
        }
        #expect(
            "\(MeteorError.assetStatus(404, url: "/a.js"))" == "Non-success status code 404 for asset: /a.js"
        )
        #expect("\(MeteorError.manifestStatus(500))" == "Non-success status code 500 for asset manifest")
    }

    @Test func `here refuses bytes of another hash, at which Meteor's never looks`() throws {
        let asset = try asset("/a.js", MeteorText.hash)
        let other = try #require(SHA1Digest(hex: MeteorText.otherHash))
        #expect(throws: MeteorError.hashMismatch(url: "/a.js")) { try asset.check(body: other) }
        try asset.check(body: try #require(asset.hash))
        try MeteorAsset.indexPage.check(body: other)
    }
}
