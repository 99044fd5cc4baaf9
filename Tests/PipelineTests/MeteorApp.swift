import FoundationEssentials
import SystemPackage

/// An app that Meteor built, as a release of its files.
struct MeteorApp {
    var number = 1
    var compatibility = MeteorApp.native
    var rules = ""
    /// What stays the same of its script.
    var library = ""
    /// Whether it says for which native part it is.
    var namesNative = true
    var config = #"{"ROOT_URL":"https://shop.example/","appId":"1waqgcidafgwubeqj8o"}"#

    var page: String {
        let escaped = config.map { character -> String in
            character.isLetter || character.isNumber
                ? "\(character)" : character.utf8.map { "%" + String($0, radix: 16, uppercase: true) }.joined()
        }.joined()
        return """
            <!doctype html><script>__meteor_runtime_config__ = JSON.parse(decodeURIComponent("\(escaped)"))</script>
            <title>release \(number)</title>

            """
    }

    func put(in folder: FilePath) throws {
        let files = [
            "release.yaml": """
            app: \(Workshop.app)
            channel: production
            patches:
              - {id: web, kind: bundle, version: \(number).0.0, folder: web, cacheable: ["app/*"],
                 gateways: [meteor], compatibility: {\(namesNative ? "android" : "linux"): "\(compatibility)"}\(rules)}

            """,
            "web/index.html": page,
            "web/app/main.js": "\(library)console.log('release \(number)')\n//# sourceMappingURL=main.js.map\n",
            "web/app/main.js.map": "{\"version\":3,\"release\":\(number)}",
            "web/app/same.css": "body { margin: 0 }\n",
            "web/img/caf\u{E9} 1.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>\n",
        ]
        for (path, text) in files {
            let file = folder.appending(path)
            try FileManager.default.createDirectory(
                atPath: file.removingLastComponent().string,
                withIntermediateDirectories: true
            )
            try text.write(toFile: file.string, atomically: true, encoding: .utf8)
        }
    }

    /// What the app brought when it was installed: an older page, and a style sheet that is still the same.
    func install(in folder: FilePath, as version: String = "initial") throws {
        let files = [
            "index.html": page,
            "app/same.css": "body { margin: 0 }\n",
            "program.json": """
            {"format":"web-program-pre1","version":"\(version)",
             "cordovaCompatibilityVersions":{"android":"\(compatibility)"},
             "manifest":[{"path":"app/same.css","where":"client","type":"css","cacheable":true,
               "url":"/app/same.css?\(MeteorApp.same)",
               "hash":"\(MeteorApp.same)","size":19}]}
            """,
        ]
        for (path, text) in files {
            let file = folder.appending("initial").appending(path)
            try FileManager.default.createDirectory(
                atPath: file.removingLastComponent().string,
                withIntermediateDirectories: true
            )
            try text.write(toFile: file.string, atomically: true, encoding: .utf8)
        }
    }

    /// SHA-1 of the style sheet.
    static let same = "d70e713083be86366d980a5b34e5fdfa1af38c65"

    /// Of the native part.
    static let native = "0123456789abcdef0123456789abcdef01234567"

    func publish(in world: World, to site: FilePath, after previous: Int?) async throws {
        let source = world.path("source\(number)")
        try put(in: source)
        let before = previous.map { world.path("made\($0)") }
        try await world.release(source, to: "made\(number)", previous: before).done()
        try await world.publish(world.path("made\(number)"), to: site).done()
    }

    /// A server that has nothing yet.
    static func emptySite(in world: World) async throws -> FilePath {
        let site = world.path("site")
        try await world.makeSite(site, keys: world.shop.keys)
        return site
    }
}
