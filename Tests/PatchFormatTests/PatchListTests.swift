import PatchFormat
import PatchTesting
import Testing

@Suite("A patch list")
struct PatchListTests {
    static func sample() throws -> JSON { try Vectors.json("patch-list/patchlist.json") }

    static func parse(_ json: JSON) throws -> ParsedPatchList { try ParsedPatchList(json.fileBytes) }

    @Test func `reads every field of the vector and writes the same bytes`() throws {
        let bytes = try Vectors.bytes("patch-list/patchlist.json")
        let parsed = try ParsedPatchList(bytes)
        let list = parsed.list
        #expect(parsed.problems == [])
        #expect(list.json.fileBytes == bytes)
        #expect(list.app.text == "com.example.storefront" && list.channel.text == "production")
        #expect(list.serial == 42 && list.published == time("2026-11-20T08:00:00Z"))
        #expect(
            list.entries.map { "\($0.patchID) \($0.version) \($0.kind)" } == [
                "fix-cart-total 3 script", "fix-cart-total 2 script", "web 1.0.0 bundle",
            ]
        )
        let first = try #require(list.entries.first)
        #expect(
            first.rules.rollout == 2_500 && first.rules.dial == .required && first.rules.mandatory
                && first.rules.runAtNextLaunch
        )
        #expect(
            first.rules.condition == "region==eu&&ismale==1" && first.rules.users?.count == 1
                && first.rules.unknown == []
        )
        #expect(first.requires == [named("web"): [list.entries[2].fingerprint.sha256]])
        #expect(first.signature.bytes.count == 384 && first.salt.count == 16)
        #expect(list.entries[2].rules.appVersion?.text == ">=2.1 <3")
    }

    private static let gone = JSON.fields([
        ("patchId", .text("web")), ("version", .text("0.9")), ("sha256", .text(String(repeating: "0f", count: 32))),
        ("serial", .integer(41)), ("since", .text("2026-11-19T08:00:00Z")),
    ])

    @Test func `names what was withdrawn, and is written as it was read`() throws {
        let bytes = try Self.sample().setting("withdrawn", to: .array([Self.gone])).fileBytes
        let list = try ParsedPatchList(bytes).list
        #expect(list.json.fileBytes == bytes)
        #expect(list.withdrawn.map(\.label.description) == ["web 0.9"])
        #expect(list.withdrawnContents == [named("web"): [try #require(list.withdrawn.first).sha256]])
    }

    @Test func `refuses an entry alone that it also names as withdrawn`() throws {
        let entry = try ParsedPatchList(try Self.sample().fileBytes).list.entries[1]
        let gone = Self.gone.setting("patchId", to: .text(entry.patchID.text))
            .setting("sha256", to: .text(entry.fingerprint.sha256.hex))
        let parsed = try Self.parse(try Self.sample().setting("withdrawn", to: .array([gone])))
        #expect(parsed.list.entries.map(\.label.description) == ["fix-cart-total 3", "web 1.0.0"])
        #expect(parsed.problems.map(\.error) == ["patch list: patches[1] is listed and withdrawn in one list"])
    }

    @Test(
        arguments: [
            ("patchId", .text("../a"), PatchID.rule), ("version", nil, "must be a string"),
            ("sha256", .text("0f"), "must be 64 lowercase hex digits"),
            ("serial", .integer(-1), "must be an integer from 0 to 9007199254740991"),
            ("since", .text("yesterday"), "must be YYYY-MM-DDTHH:MM:SSZ"),
        ] as [(String, JSON?, String)]
    )
    func `is refused as a whole when what it withdraws cannot be read`(_ field: String, value: JSON?, rule: String)
        throws
    {
        let json = try Self.sample().setting("withdrawn", to: .array([Self.gone.setting(field, to: value)]))
        #expect(throws: FormatError("patch list", field: "withdrawn[0].\(field)", rule: rule)) { try Self.parse(json) }
    }

    @Test(arguments: [(51, 90, true), (51, 91, true), (52, 90, true), (52, 91, false)])
    func `must name a withdrawn version for ten releases, and for as long as a role holds`(
        serial: Int,
        days: Int,
        isNeeded: Bool
    ) throws {
        let fields = try Fields(Self.gone.setting("serial", to: .integer(42)), of: "row")
        let gone = try WithdrawnVersion(fields)
        let time = gone.since.adding(.days(days)).adding(.seconds(-1))
        #expect(gone.isNeeded(inList: serial, at: time, validity: .days(90)) == isNeeded)
    }

    @Test(
        arguments: [
            ("format", .some(.text("patchline-list-v2")), "must be patchline-list-v1"),
            ("format", nil, "must be a string"),
            ("app", .some(.text("../a")), AppID.rule), ("app", .some(.integer(1)), "must be a string"),
            ("app", nil, "must be a string"),
            ("channel", .some(.text("dial")), ChannelName.rule), ("channel", nil, "must be a string"),
            ("serial", .some(.integer(-1)), "must be an integer from 0 to 9007199254740991"),
            ("serial", .some(.text("1")), "must be an integer from 0 to 9007199254740991"),
            ("published", .some(.text("2026-11-20")), "must be YYYY-MM-DDTHH:MM:SSZ"),
            ("published", nil, "must be a string"),
            ("withdrawn", .some(.fields([])), "must be an array"),
            ("patches", .some(.fields([])), "must be an array"), ("patches", nil, "must be an array"),
            ("patches", .some(.array(Array(repeating: .null, count: 10_001))), "must hold at most 10000 elements"),
        ] as [(String, JSON?, String)]
    )
    func `is refused as a whole when its header is broken`(_ field: String, value: JSON?, rule: String) throws {
        let json = try Self.sample().setting(field, to: value)
        #expect(throws: FormatError("patch list", field: field, rule: rule)) { try Self.parse(json) }
    }

    @Test(arguments: [
        ("[]", "must be an object"), ("{", "is not JSON (byte 1)"),
        (#"{"app":1,"app":2}"#, "has a key twice in one object (byte 9)"),
    ])
    func `is refused as a whole when it is no object`(_ text: String, rule: String) {
        #expect(throws: FormatError("patch list", rule: rule)) { try ParsedPatchList(Array(text.utf8)) }
    }

    @Test func `may be empty and may hold members that this reader does not know`() throws {
        let json = try Self.sample().setting("patches", to: .array([])).setting("x-new", to: .bool(true))
        #expect(try Self.parse(json).list.entries == [])
    }

    @Test(
        arguments: [
            ("patchId", .some(.text("a/b")), PatchID.rule), ("patchId", nil, "must be a string"),
            ("version", .some(.text("1 0")), VersionLabel.rule), ("version", .some(.integer(3)), "must be a string"),
            ("kind", .some(.text("page")), "must be script or bundle"), ("kind", nil, "must be a string"),
            ("size", .some(.integer(-1)), "must be an integer from 0 to 4000000000"),
            ("size", .some(.integer(4_000_000_001)), "must be an integer from 0 to 4000000000"),
            ("size", nil, "must be an integer from 0 to 4000000000"),
            ("md5", .some(.text("ABCDEF00".times(4))), "must be 32 lowercase hex digits"),
            ("md5", nil, "must be a string"),
            ("sha1", .some(.text("0".times(39))), "must be 40 lowercase hex digits"), ("sha1", nil, "must be a string"),
            ("sha256", .some(.text("0".times(66))), "must be 64 lowercase hex digits"),
            ("sha256", nil, "must be a string"),
            ("salt", .some(.text("0".times(30))), "must be 32 lowercase hex digits"),
            ("salt", .some(.text("0".times(34))), "must be 32 lowercase hex digits"),
            ("salt", .some(.text("A".times(32))), "must be 32 lowercase hex digits"), ("salt", nil, "must be a string"),
            ("signature", nil, "must be an object"),
            ("signature.keyid", .some(.text("0".times(63))), "must be 64 lowercase hex digits"),
            ("signature.scheme", .some(.text("rsassa-pss-sha256")), "must be rsa-pkcs1v15-sha256"),
            ("signature.scheme", nil, "must be a string"),
            ("signature.sig", .some(.text("")), "must be padded base64 of 256 to 1,024 bytes"),
            ("signature.sig", .some(.text("A".times(340))), "must be padded base64 of 256 to 1,024 bytes"),
            ("signature.sig", .some(.text("A".times(1_368))), "must be padded base64 of 256 to 1,024 bytes"),
            ("signature.sig", .some(.text("\("A".times(511))\n")), "must be padded base64 of 256 to 1,024 bytes"),
            ("requires", .some(.array([])), "must be an object"), ("requires.a/b", .some(.array([])), PatchID.rule),
            ("requires.web", .some(.text("x")), "must be an array"),
            ("requires.web", .some(.array([.text("x")])), "must hold 64 lowercase hex digits each"),
            ("requires.web", .some(.array([.integer(1)])), "must hold strings only"),
            ("rules", .some(.null), "must be an object"),
            ("security", .some(.bool(true)), "must be an object"),
            ("gateways", .some(.text("meteor")), "must be an array"),
            ("gateways", .some(.array([.integer(1)])), "must hold strings only"),
            ("rules.rollout", .some(.integer(10_001)), "must be an integer from 0 to 10000"),
        ] as [(String, JSON?, String)]
    )
    func `refuses one entry alone when a field of it is broken`(_ field: String, value: JSON?, rule: String) throws {
        let json = try Self.sample().setting("patches.0.\(field)", to: value)
        let parsed = try Self.parse(json)
        #expect(parsed.list.entries.map(\.version.text) == ["2", "1.0.0"])
        let problem = try #require(parsed.problems.first)
        #expect(parsed.problems.count == 1 && problem.index == 0)
        #expect(problem.error == "patch list: patches[0].\(field) \(rule)")
        #expect(problem.patchID?.text == (field == "patchId" ? nil : "fix-cart-total"))
        #expect(problem.version?.text == (field == "version" ? nil : "3"))
    }

    private static let form = JSONObject([
        ("keyid", .text("ab".times(32))), ("md5", .text("A".times(512))), ("sha1", .text("B".times(512))),
    ])

    @Test func `reads over which wires an entry goes as well, and passes over one that it does not know`() throws {
        let named = JSON.array([.text("meteor"), .text("pigeon"), .text("meteor")])
        let parsed = try Self.parse(try Self.sample().setting("patches.1.gateways", to: named))
        #expect(parsed.problems == [])
        #expect(parsed.list.entries.map(\.gateways) == [[], [.meteor], []])
        #expect(parsed.list.entries[1].json["gateways"] == .array([.text("meteor")]))
        #expect(parsed.list.entries[0].json["gateways"] == nil)
    }

    @Test func `reads the JSPatch form of an entry and writes it again`() throws {
        let parsed = try Self.parse(try Self.sample().setting("patches.1.jspatch", to: .object(Self.form)))
        #expect(parsed.problems == [])
        #expect(parsed.list.entries.map { $0.jspatch?.keyID.hex } == [nil, "ab".times(32), nil])
        #expect(parsed.list.entries[1].jspatch?.md5 == [UInt8](repeating: 0, count: 384))
        #expect(try Self.parse(parsed.list.json).list == parsed.list)
    }

    @Test(
        arguments: [
            ("", .some(.null), "must be an object"),
            (".keyid", .some(.text("ab")), "must be 64 lowercase hex digits"), (".keyid", nil, "must be a string"),
            (".md5", nil, "must be a string"), (".sha1", nil, "must be a string"),
            (".md5", .some(.text("A".times(340))), "must be padded base64 of 256 to 1,024 bytes"),
            (".sha1", .some(.text("A".times(1_368))), "must be padded base64 of 256 to 1,024 bytes"),
            (".sha1", .some(.text("\("A".times(511))\n")), "must be padded base64 of 256 to 1,024 bytes"),
        ] as [(String, JSON?, String)]
    )
    func `refuses one entry alone when its JSPatch form is broken`(_ member: String, value: JSON?, rule: String) throws
    {
        let json = try Self.sample().setting("patches.0.jspatch", to: .object(Self.form))
        let parsed = try Self.parse(json.setting("patches.0.jspatch\(member)", to: value))
        #expect(parsed.list.entries.map(\.version.text) == ["2", "1.0.0"])
        #expect(parsed.problems.map(\.error) == ["patch list: patches[0].jspatch\(member) \(rule)"])
    }

    private static let advisory = JSONObject([
        ("text", .text("Names in a chat could run scripts.")),
        ("url", .text("https://example.com/advisories/7?lang=en#fix")),
    ])

    @Test func `reads what an entry says of a security hole and writes it again`() throws {
        let bytes = try Self.sample().setting("patches.1.security", to: .object(Self.advisory)).fileBytes
        let parsed = try ParsedPatchList(bytes)
        #expect(parsed.problems == [] && parsed.list.json.fileBytes == bytes)
        #expect(
            parsed.list.entries.map { $0.security?.description } == [
                nil, "Names in a chat could run scripts. (https://example.com/advisories/7?lang=en#fix)", nil,
            ]
        )
        // What the entry's own signature covers is as it was: older readers take the entry.
        let before = try Self.parse(Self.sample()).list
        #expect(
            parsed.list.entries[1].statement(app: before.app, channel: before.channel)
                == before.entries[1].statement(app: before.app, channel: before.channel)
        )
    }

    @Test(
        arguments: [
            ("text", nil, "must be a string"), ("text", .some(.text("")), "must be 1 to 2,000 characters on one line"),
            ("text", .some(.text("é".times(2_000))), nil),
            ("text", .some(.text("a".times(2_001))), SecurityAdvisory.textRule),
            ("text", .some(.text("a\nb")), SecurityAdvisory.textRule),
            ("text", .some(.text("a\u{7}")), SecurityAdvisory.textRule), ("url", nil, nil),
            ("url", .some(.text("https://a/\("b".times(2_038))")), nil),
            ("url", .some(.text("https://a/\("b".times(2_039))")), SecurityAdvisory.urlRule),
            ("url", .some(.text("http://example.com")), "must be https:// and a host, of at most 2,048 bytes; no user"),
            ("url", .some(.text("https:///a")), SecurityAdvisory.urlRule),
            ("url", .some(.text("https://me@example.com/")), SecurityAdvisory.urlRule),
            ("url", .some(.text("https://example.com/a b")), SecurityAdvisory.urlRule),
            ("more", .some(.integer(1)), nil),
        ] as [(String, JSON?, String?)]
    )
    func `refuses one entry alone when what it says of a security hole is broken`(
        _ member: String,
        value: JSON?,
        rule: String?
    ) throws {
        let json = try Self.sample().setting("patches.0.security", to: .object(Self.advisory))
        let parsed = try Self.parse(json.setting("patches.0.security.\(member)", to: value))
        #expect(
            parsed.problems.map(\.error) == (rule.map { ["patch list: patches[0].security.\(member) \($0)"] } ?? [])
        )
    }

    // MARK: Where a script runs

    private static func place(_ side: JSON?, _ pages: JSON?, of entry: Int = 0) throws -> JSON {
        try Self.sample().setting("patches.\(entry).runsIn", to: side).setting("patches.\(entry).pages", to: pages)
    }

    @Test(
        arguments: [
            (
                .text("page"), .array([.text("/"), .text("/item/*"), .text("/docs/**")]),
                "runs in pages /, /item/*, /docs/**"
            ),
            (.text("page"), nil, "runs in every page"),
            (.text("both"), nil, "runs in the app's program and in every page"),
            (nil, nil, "runs in the app's program"),
        ] as [(JSON?, JSON?, String)]
    )
    func `reads where a script runs and writes it again`(side: JSON?, pages: JSON?, words: String) throws {
        let bytes = try Self.place(side, pages).fileBytes
        let parsed = try ParsedPatchList(bytes)
        #expect(parsed.problems == [] && parsed.list.json.fileBytes == bytes)
        #expect(parsed.list.entries[0].place.description == words)
        // What the entry's own signature covers is as it was: older readers take the entry.
        let before = try Self.parse(Self.sample()).list
        #expect(
            parsed.list.entries[0].statement(app: before.app, channel: before.channel)
                == before.entries[0].statement(app: before.app, channel: before.channel)
        )
    }

    @Test func `takes a script that says it runs in the host for one that says nothing`() throws {
        let parsed = try Self.parse(try Self.place(.text("host"), nil))
        #expect(parsed.problems == [] && parsed.list.entries[0].place == .host)
        #expect(try parsed.list.json.fileBytes == Self.sample().fileBytes)
    }

    @Test(
        arguments: [
            (.text("worker"), nil, 0, "runsIn must be host, page or both"),
            (.bool(true), nil, 0, "runsIn must be a string"),
            (nil, .array([.text("/")]), 0, "pages is for scripts that run in pages: set runsIn to page or both"),
            (
                .text("host"), .array([.text("/")]), 0,
                "pages is for scripts that run in pages: set runsIn to page or both"
            ),
            (.text("page"), .array([]), 0, "pages must hold a pattern; without it every page gets the script"),
            (.text("page"), .text("/"), 0, "pages must be an array"),
            (.text("page"), .array([.integer(1)]), 0, "pages must hold strings only"),
            (.text("page"), .array([.text("/"), .text("cart")]), 0, "pages[1] \(RoutePattern.rule)"),
            (
                .text("both"), .array(Array(repeating: .text("/"), count: 101)), 0,
                "pages must hold at most 100 elements"
            ),
            (.text("host"), nil, 2, "runsIn is for scripts"), (nil, .array([.text("/")]), 2, "pages is for scripts"),
        ] as [(JSON?, JSON?, Int, String)]
    )
    func `refuses one entry alone when where it runs is broken`(side: JSON?, pages: JSON?, entry: Int, rule: String)
        throws
    {
        let parsed = try Self.parse(try Self.place(side, pages, of: entry))
        #expect(parsed.problems.map(\.error) == ["patch list: patches[\(entry)].\(rule)"])
        #expect(parsed.list.entries.count == 2)
    }

    @Test(arguments: [
        ([], ["/"], true), ([], ["/index.html"], false), (["cart"], ["/cart", "/item/*"], true),
        (["item", "7"], ["/cart", "/item/*"], true), (["item"], ["/item/*"], false),
        (["item", "7", "8"], ["/item/*"], false),
        (["item", "7", "8"], ["/item/**"], true), (["item"], ["/item/**"], true), (["Cart"], ["/cart"], false),
        (["cart", "7"], ["/cart"], false), ([], ["/**"], true),
    ])
    func `names the pages of a script by patterns of their paths`(path: [String], pages: [String], expected: Bool) {
        let place = ScriptPlace(.both, pages: pages.compactMap { RoutePattern($0) })
        #expect(place.isIn(pageAt: path) == expected)
        #expect(ScriptPlace(.page).isIn(pageAt: path) && !ScriptPlace.host.isIn(pageAt: path))
    }

    @Test(arguments: [JSON.null, .text("web"), .array([])])
    func `refuses a row that is no object alone`(_ row: JSON) throws {
        let parsed = try Self.parse(try Self.sample().setting("patches.1", to: row))
        #expect(
            parsed.problems == [
                EntryProblem(index: 1, patchID: nil, version: nil, error: "patch list: patches[1] must be an object")
            ]
        )
        #expect(parsed.list.entries.count == 2)
    }

    @Test(arguments: [
        "", "/objects/aa/x", "https://example.com/x", "../objects", "objects/%63a",
        "targets/production/web/1.0.0/manifest.json",
    ])
    func `refuses an entry whose url is not the one its name and digest give`(_ url: String) throws {
        let json = try Self.sample()
        guard case .string(let script) = json.at("patches.0.url"), case .string(let manifest) = json.at("patches.2.url")
        else {
            Issue.record("the vector has no urls")
            return
        }
        let parsed = try Self.parse(
            json.setting("patches.0.url", to: .text(url)).setting("patches.2.url", to: .text(url))
        )
        #expect(
            parsed.problems.map(\.error) == [
                "patch list: patches[0].url must be \(script.text)",
                "patch list: patches[2].url must be \(manifest.text)",
            ]
        )
        #expect(parsed.list.entries.map(\.version.text) == ["2"])
    }

    @Test func `refuses the second entry of one label, whether it has the same content or another`() throws {
        let json = try Self.sample()
        let same = try Self.parse(json.setting("patches.1", to: json.at("patches.0")))
        #expect(same.problems.map(\.error) == ["patch list: patches[1].version is listed twice"])
        let other = try Self.parse(json.setting("patches.1.version", to: .text("3")))
        #expect(other.problems.map(\.error) == ["patch list: patches[1].version has two contents in one list"])
        #expect(other.list.entries.map(\.version.text) == ["3", "1.0.0"])
    }

    @Test func `takes two patches with one version, and one patch with two`() throws {
        #expect(try Self.parse(try Self.sample().setting("patches.2.patchId", to: .text("web"))).problems == [])
    }

    @Test func `over its limit is refused before it is parsed`() {
        let bytes = [UInt8](repeating: UInt8(ascii: "["), count: Limits.patchList + 1)
        #expect(throws: FormatError("patch list", rule: "is over 16000000 bytes")) { try ParsedPatchList(bytes) }
    }
}
