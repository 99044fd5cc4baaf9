import Gateways
import PatchFormat
import PatchCrypto
import Testing

/// The index page of a Meteor app, with its runtime config as given.
struct MeteorPage {
    var config =
        #"{"ROOT_URL":"https://shop.example/","appId":"1waqgcidafgwubeqj8o","autoupdateVersionCordova":"version2","x":[1]}"#

    var bytes: [UInt8] {
        Array(
            """
            <html><head><script>
            __meteor_runtime_config__ = JSON.parse(decodeURIComponent("\(URLLayout.percentEncoded(config))"))
            </script></head><body>caf\u{E9} "))</body></html>
            """.utf8
        )
    }

    func read() throws(MeteorError) -> MeteorRuntimeConfig { try MeteorRuntimeConfig(page: bytes) }

    func replacing(_ part: String, with other: String) -> MeteorPage {
        MeteorPage(config: config.replacing(part, with: other))
    }
}

@Suite("The index page of a Meteor app")
struct MeteorPageTests {
    private let page = MeteorPage()

    private func error(of page: MeteorPage, current: MeteorPage = MeteorPage()) -> MeteorError? {
        do throws(MeteorError) {
            try page.read().check(version: "version2", current: try current.read())
            return nil
        } catch { return error }
    }

    @Test func `says its server, its app and its version`() throws {
        let config = try page.read()
        #expect(config.rootURL == "https://shop.example/")
        #expect(config.appID == "1waqgcidafgwubeqj8o")
        #expect(config.version == "version2")
        #expect(error(of: page) == nil)
    }

    @Test func `is held to five rules, in the words of Meteor's client`() {
        #expect(
            error(of: page.replacing("version2", with: "version3")).map(String.init(describing:))
                == "Version mismatch for index page, expected: version2, actual: version3"
        )
        let noServer = page.replacing("ROOT_URL", with: "ROOT")
        #expect(
            error(of: noServer).map(String.init(describing:)) == "Could not find ROOT_URL in downloaded asset bundle"
        )
        let localhost = page.replacing("https://shop.example/", with: "http://localhost:3000/")
        #expect(
            error(of: localhost).map(String.init(describing:))
                == "ROOT_URL in downloaded asset bundle would change current ROOT_URL to localhost. "
                + "Make sure ROOT_URL has been configured correctly on the server."
        )
        #expect(
            error(of: page.replacing("appId", with: "app")).map(String.init(describing:))
                == "Could not find appId in downloaded asset bundle"
        )
        #expect(
            error(of: page.replacing("1waqgcidafgwubeqj8o", with: "other")).map(String.init(describing:))
                == "appId in downloaded asset bundle does not match current appId. "
                + "Make sure the server at https://shop.example/ is serving the right app."
        )
    }

    @Test func `may say no version, and localhost where localhost was said before`() {
        #expect(error(of: page.replacing("autoupdateVersionCordova", with: "other")) == nil)
        let localhost = page.replacing("https://shop.example/", with: "http://localhost:3000/")
        #expect(error(of: localhost, current: localhost) == nil)
        #expect(error(of: page, current: localhost) == nil)
    }

    @Test(arguments: [
        "http://localhost", "http://localhost/", "http://user@localhost:80/", "http://localhost?x", "ws://localhost#y",
    ])
    func `says localhost in any spelling of its URL`(_ url: String) {
        #expect(error(of: page.replacing("https://shop.example/", with: url)) == .rootURLIsLocalhost)
    }

    @Test(arguments: ["", "shop example", "http://\u{E9}"])
    func `says no server where its ROOT_URL is no URL`(_ url: String) {
        #expect(error(of: page.replacing("https://shop.example/", with: url)) == .noRootURL)
    }

    @Test(arguments: [
        "", "<html>", #"__meteor_runtime_config__ = JSON.parse(decodeURIComponent("%7B%7D"#,
        #"__meteor_runtime_config__ = JSON.parse(decodeURIComponent("%7"))"#,
        #"__meteor_runtime_config__ = JSON.parse(decodeURIComponent("[]"))"#,
        #"__meteor_runtime_config__ = JSON.parse(decodeURIComponent("%7B%7D" ))"#,
        #"__meteor_runtime_config__ = JSON.parse(decodeURIComponent("%7B%FF%7D"))"#,
    ])
    func `without a runtime config that can be read is refused`(_ text: String) {
        #expect(throws: MeteorError.noRuntimeConfig) { try MeteorRuntimeConfig(page: Array(text.utf8)) }
        #expect("\(MeteorError.noRuntimeConfig)" == "Couldn't load runtime config from index file")
    }

    @Test func `gets another version and keeps every other byte`() throws {
        let changed = try page.read().page(page.bytes, saying: "7\"é")
        let config = try MeteorRuntimeConfig(page: changed)
        #expect(config.version == "7\"é")
        #expect(config.identity == (try page.read().identity))
        #expect(changed.starts(with: Array("<html><head><script>".utf8)))
        #expect(String(decoding: changed, as: UTF8.self).hasSuffix("caf\u{E9} \"))</body></html>"))
    }
}

@Suite("A bundle as a Meteor server serves it")
struct MeteorSiteTests {
    private static let compatibility = ["android": "4017747c", "ios": "0abe549f"]
    private let page = MeteorPage()

    private func asset(_ path: String, _ text: String, map: String? = nil) throws -> Asset {
        let path = try AssetPath(path)
        return Asset(
            path: path,
            url: URLLayout.asset(path),
            type: AssetType(path: path),
            cacheable: text.hasPrefix("cached"),
            sourceMap: try map.map { try AssetPath($0) },
            fingerprint: Fingerprint(of: Array(text.utf8))
        )
    }

    private func bundle(
        _ text: String = "cached",
        compatibility: [String: String] = compatibility,
        index: String = "index.html",
        more: [Asset] = []
    ) throws -> AssetManifest {
        AssetManifest(
            app: try #require(AppID("shop")),
            patchID: try #require(PatchID("web")),
            version: try #require(VersionLabel("2.0.0")),
            commit: nil,
            created: nil,
            compatibility: compatibility,
            index: try AssetPath(index),
            routes: nil,
            assets: ([
                try asset("app/main.js", text, map: "app/main.js.map"), try asset("app/main.js.map", "{}"),
                try asset("index.html", "page"), try asset("é.css", "css"),
            ] + more).sorted { $0.path < $1.path }
        )
    }

    @Test(arguments: MeteorManifest.Platform.allCases)
    func `has a manifest that Meteor's client reads, and a page that agrees with it`(
        _ platform: MeteorManifest.Platform
    ) throws {
        let bundle = try bundle()
        let site = try MeteorSite(bundle, page: page.bytes)
        let manifest = try MeteorManifest(site.manifest, for: platform)
        #expect(manifest.version == site.version)
        #expect(manifest.compatibility == Self.compatibility[platform.rawValue])
        #expect(manifest.assets.map(\.path.text) == ["app/main.js", "app/main.js.map", "é.css"])
        #expect(manifest.assets.map(\.url) == ["/app/main.js", "/app/main.js.map", "/%C3%A9.css"])
        #expect(
            manifest.assets.map(\.hash) == [bundle.assets[0].fingerprint.sha1, nil, bundle.assets[3].fingerprint.sha1]
        )
        #expect(manifest.assets.map(\.isCacheable) == [true, true, false])
        #expect(manifest.assets[0].sourceMap == "/app/main.js.map")
        let config = try MeteorRuntimeConfig(page: site.index)
        try config.check(version: manifest.version, current: try page.read())
    }

    @Test
    func `has a version that changes with a file, with its name and with the page's config, and with nothing else`()
        throws
    {
        let version = try MeteorSite(try bundle(), page: page.bytes).version
        #expect(version.utf8.count == 40)
        #expect(try MeteorSite(try bundle(), page: page.bytes).version == version)
        #expect(try MeteorSite(try bundle(), page: page.replacing("version2", with: "v").bytes).version == version)
        #expect(try MeteorSite(try bundle("changed"), page: page.bytes).version != version)
        #expect(try MeteorSite(try bundle(), page: page.replacing("shop.", with: "s.").bytes).version != version)
    }

    @Test func `answers with its files, with the page where nothing is, and with 404 where that is asked for`() throws {
        let bundle = try bundle()
        let site = try MeteorSite(bundle, page: page.bytes)
        #expect(site.answer("GET", "/manifest.json", query: nil) == .manifest)
        #expect(site.answer("HEAD", "/app/main.js", query: "meteor_dont_serve_index=true") == .asset(bundle.assets[0]))
        #expect(site.answer("GET", "/%C3%A9.css", query: nil) == .asset(bundle.assets[3]))
        #expect(site.answer("GET", "/", query: nil) == .index)
        #expect(site.answer("GET", "/cart/7", query: "a=b") == .index)
        #expect(site.answer("GET", "/cart/7", query: "a=b&meteor_dont_serve_index=true") == .notFound)
        #expect(site.answer("OPTIONS", "/", query: nil) == .options)
        #expect(site.answer("POST", "/manifest.json", query: nil) == .methodNotAllowed)
        #expect(MeteorSite.Answer.allowed == "OPTIONS, GET, HEAD")
    }

    @Test func `cannot be made of what is no Meteor app`() throws {
        #expect(throws: MeteorError.noRuntimeConfig) { try MeteorSite(try bundle(), page: Array("<html>".utf8)) }
        #expect(throws: MeteorError.noAppID) {
            try MeteorSite(try bundle(), page: page.replacing("appId", with: "app").bytes)
        }
        #expect(throws: MeteorError.noRootURL) {
            try MeteorSite(try bundle(), page: page.replacing("ROOT_URL", with: "ROOT").bytes)
        }
        for compatibility in [[:], ["linux": "5e5e"]] {
            #expect(throws: MeteorError.noCompatibility) {
                try MeteorSite(try bundle(compatibility: compatibility), page: page.bytes)
            }
        }
    }

    @Test func `leaves out the file in whose place its clients keep the manifest`() throws {
        let site = try MeteorSite(try bundle(more: [try asset("program.json", "{}")]), page: page.bytes)
        #expect(site.manifest == (try MeteorSite(try bundle(), page: page.bytes)).manifest)
        #expect(site.answer("GET", "/program.json", query: MeteorSite.doNotServeIndex) == .notFound)
    }

    @Test func `is not made where its clients could not read it`() throws {
        let taken = try bundle(more: [try asset("manifest.json", "{}")])
        #expect(throws: MeteorError.manifestPlaceTaken) { try MeteorSite(taken, page: page.bytes) }
        #expect(
            "\(MeteorError.manifestPlaceTaken)"
                == "The bundle has a file /manifest.json, where Meteor's clients look for their manifest"
        )
        // They call the page index.html, whatever the bundle calls it.
        let other = try bundle(index: "app.html", more: [try asset("app.html", "page")])
        #expect(throws: MeteorError.reserved(MeteorAsset.index)) { try MeteorSite(other, page: page.bytes) }
    }
}
