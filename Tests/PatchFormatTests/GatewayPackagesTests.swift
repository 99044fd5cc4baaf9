import PatchFormat
import PatchTesting
import Testing

@Suite("Packages for JSPatch's clients in a list")
struct GatewayPackagesTests {
    private static func package(_ version: Int) throws -> GatewayPackages.Package {
        .init(
            version: try #require(LoaderVersion(version)),
            fingerprint: .sample(UInt8(version)),
            contents: [.main: digest(of: 7)]
        )
    }

    private static func rows() throws -> [GatewayPackages] {
        try [.loader, .platform(named("0a1b"))].map { wire in
            GatewayPackages(
                line: .init(wire, version("2.1")),
                latest: try #require(LoaderVersion(4)),
                scripts: [.main: named("fix")],
                packages: try [package(4), package(2)]
            )
        }
    }

    private static func list(_ gateways: JSON?) throws -> ParsedPatchList {
        let list = PatchList(
            app: named("com.example.storefront"),
            channel: named("production"),
            serial: 1,
            published: time("2026-11-20T08:00:00Z"),
            entries: []
        )
        return try ParsedPatchList(list.json.setting("gateways", to: gateways).canonicalBytes)
    }

    @Test func `are read as they were written, and say what can be had`() throws {
        let rows = try Self.rows()
        let parsed = try Self.list(.array(rows.map(\.json)))
        #expect(parsed.problems.isEmpty && parsed.list.gateways == rows)
        #expect(
            parsed.list.gatewayPackages.map { $0.package.label(on: $0.line) } == [
                "loader 2.1 v4", "loader 2.1 v2", "platform 0a1b 2.1 v4", "platform 0a1b 2.1 v2",
            ]
        )
        #expect(try rows[0].newest == Self.package(4))
        #expect(rows[0].line.path(try #require(LoaderVersion(4))) == "2.1/v4.zip")
        #expect(rows[1].line.path(try #require(LoaderVersion(4))) == "0a1b/2.1/file4")
    }

    @Test func `of a wire that is not known here are passed over`() throws {
        let other = try Self.rows()[0].json.setting("gateway", to: .text("tomorrow"))
        let parsed = try Self.list(.array([other]))
        #expect(parsed.problems.isEmpty && parsed.list.gateways.isEmpty)
    }

    @Test func `are set apart where they are malformed, and the list stands`() throws {
        let row = try Self.rows()[1].json
        let number = "must be an integer from 1 to 999999999"
        let cases: [(JSON, String, String)] = [
            (.text("x"), "gateways", "must be an array"),
            (.array([.text("x")]), "gateways[0]", "must be an object"),
            (.array([row, row]), "gateways[1].appVersion", "is listed twice for one wire"),
            (.array([row.setting("gateway", to: nil)]), "gateways[0].gateway", "must be a string"),
            (.array([row.setting("appKey", to: nil)]), "gateways[0].appKey", "must be a string"),
            (.array([row.setting("appKey", to: .text("a/b"))]), "gateways[0].appKey", PlatformAppKey.rule),
            (.array([row.setting("appVersion", to: .text("x"))]), "gateways[0].appVersion", AppVersion.rule),
            (.array([row.setting("latest", to: .integer(0))]), "gateways[0].latest", number),
            (
                .array([row.setting("latest", to: .integer(3))]), "gateways[0].packages[0].version",
                "must be lower than the previous one, and at most latest"
            ),
            (
                .array([row.setting("packages.1.version", to: .integer(4))]), "gateways[0].packages[1].version",
                "must be lower than the previous one, and at most latest"
            ),
            (
                .array([row.setting("packages.0.size", to: .integer(16_000_001))]), "gateways[0].packages[0].size",
                "must be at most 16000000"
            ),
            (
                .array([row.setting("packages.0.contents", to: .fields([]))]), "gateways[0].packages[0].contents",
                "must have main.js"
            ),
            (.array([row.setting("packages.0.sha256", to: nil)]), "gateways[0].packages[0].sha256", "must be a string"),
            (
                .array([row.setting("scripts", to: .fields([("a/b.js", .text("fix"))]))]),
                "gateways[0].scripts.a/b.js", ScriptName.rule
            ),
            (
                .array([row.setting("scripts", to: .fields([("main.js", .text("a b"))]))]),
                "gateways[0].scripts.main.js", PatchID.rule
            ),
        ]
        for (json, field, rule) in cases {
            let parsed = try Self.list(json)
            #expect(parsed.problems.map(\.error) == ["patch list: \(field) \(rule)"])
            #expect(parsed.list.gateways.isEmpty)
        }
    }
}
