import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchFormat
import Testing

@testable import APIProxy

extension FileRequest {
    static func get(_ path: String, query: String? = nil, _ headers: HTTPHeaders = [:]) throws -> FileRequest {
        FileRequest(method: .GET, path: try RequestPath(parsing: path), query: query, headers: headers)
    }
}

@Suite("A proxy rule")
struct ProxyRuleTests {
    @Test(arguments: [
        ("/api/.*=https://a.example", "/api/items/3", "/api/items/3"),
        ("/api/.*=https://a.example/", "/api/items/3", "/items/3"),
        ("/api/.*=https://a.example/v2", "/api/items/3", "/v2/items/3"),
        ("/api/.*=https://a.example/v2/", "/api/items/", "/v2/items/"),
        ("/api/.*=https://a.example/", "/api/", "/"), (".*=https://a.example/v2", "/x", "/v2/x"),
        ("/api/.*=https://a.example", "/api/a%20b", "/api/a%20b"),
    ])
    func `puts the upstream's path in the place of its pattern's prefix`(
        rule: String,
        path: String,
        target: String
    ) throws {
        let rule = try ProxyRule(argument: rule)
        #expect(rule.target(of: try .get(path), at: rule.upstreams[0]) == target)
        #expect(rule.target(of: try .get(path, query: "a=%20&b"), at: rule.upstreams[0]) == "\(target)?a=%20&b")
    }

    @Test(arguments: [
        "filter[name]=a%20b", "q={%22a%22}|^`", "100%&x=%4", "a=\"<\\>", "u=http://a/?b;c,d'(e)*!$@", "", "?",
    ])
    func `passes a query on as it was sent`(query: String) throws {
        let rule = try ProxyRule(argument: "/api/.*=https://a.example")
        #expect(rule.target(of: try .get("/api/a%20b", query: query), at: rule.upstreams[0]) == "/api/a%20b?\(query)")
    }

    @Test(arguments: [
        ("/api/img/https://host/a.png", "/v2/img/https://host/a.png"), ("/api/a%2Fb/%2f", "/v2/a%2Fb/%2f"),
        ("/api/", "/v2/"),
        ("/api//", "/v2//"), ("/api/a;v=1/b;/%7Ex/~", "/v2/a;v=1/b;/%7Ex/~"), ("/api/%FF%fe", "/v2/%FF%fe"),
        ("/api/a+b%2Bc", "/v2/a+b%2Bc"), ("/%61pi/x", "/v2/x"), ("/api/...", "/v2/..."),
        ("/api/%252e%252e", "/v2/%252e%252e"),
        ("/api/a%5Cb", "/v2/a%5Cb"),
    ])
    func `passes a path on as it was sent, behind the pattern's prefix`(sent: String, target: String) throws {
        let rules = ProxyRules([try ProxyRule(argument: "/api/.*=https://a.example/v2")])
        let request = try FileRequest(getting: sent, headers: [:], keepsEncoded: true)
        let rule = try #require(try rules.rule(for: request))
        #expect(rule.target(of: request, at: rule.upstreams[0]) == target)
    }

    @Test(arguments: [
        ("/api/../x", SentPathRefusal.dotSegment), ("/api/./x", .dotSegment), ("/api/%2E%2e/x", .dotSegment),
        ("/api/x/..", .dotSegment), ("/api/..;a=b/x", .dotSegment), ("/api/a%2F..%2Fx", .dotSegment),
        ("/api/..%5Cx", .dotSegment), ("//api/x", .ambiguous), ("/api%2Fx", .ambiguous), ("/api%5Cx/y", .ambiguous),
        ("/api/admin%2Fx", .ambiguous), ("/api//admin/x", .ambiguous), ("/api/admin//x", nil),
    ])
    func `passes no path on that servers read in different ways`(sent: String, refusal: SentPathRefusal?) throws {
        let rules = ProxyRules([
            try ProxyRule(argument: "/api/admin/.*=https://b.example"),
            try ProxyRule(argument: "/api/.*=https://a.example"),
            try ProxyRule(argument: "/.*=https://c.example"),
        ])
        let request = try FileRequest(getting: sent, headers: [:], keepsEncoded: true)
        var found: SentPathRefusal?
        do throws(SentPathRefusal) { _ = try rules.rule(for: request) } catch { found = error }
        #expect(found == refusal)
    }

    @Test func `says why it does not pass a path on`() {
        let refusals: [SentPathRefusal] = [.dotSegment, .controlCharacter, .ambiguous]
        #expect(
            refusals.map(\.message) == [
                "The path has a segment . or .., which servers resolve in different ways.",
                "The path has an encoded control character.",
                "The path has an empty segment or an encoded slash, and the rules differ by how it is read.",
            ]
        )
    }

    @Test func `reads several upstreams in their order, and patterns with an equals sign`() throws {
        let rule = try ProxyRule(argument: "/a=b/.*=https://A.example:443,http://[::1]:8080/x/")
        #expect(rule.pattern.text == "/a=b/.*")
        #expect(rule.upstreams.map(\.origin) == ["https://a.example", "http://[::1]:8080"])
        #expect(rule.upstreams.map(\.base) == [nil, ["x"]])
        #expect(rule.upstreams[1].host == "::1")
    }

    @Test(arguments: [
        ("/api/.*", ProxyRuleError.noUpstream), ("/api/.*=ftp://a", .noUpstream),
        ("/(=https://a", .pattern(.unbalanced(at: 1))), ("/a=https://", .upstream("https://")),
        ("/a=https://a?b", .upstream("https://a?b")), ("/a=https://u@a", .upstream("https://u@a")),
        ("/a=https://a:0", .upstream("https://a:0")), ("/a=https://a,", .upstream("")),
        ("/a=https://a/../b", .upstream("https://a/../b")), ("/a=https://a b", .upstream("https://a b")),
    ])
    func `is refused with its reason`(text: String, error: ProxyRuleError) {
        #expect(throws: error) { try ProxyRule(argument: text) }
    }

    @Test func `is the first that names the path`() throws {
        let rules = ProxyRules(
            try ["/api/v1/.*=http://one", "/api/.*=http://two"].map { text in try ProxyRule(argument: text) }
        )
        let rule = { (path: String) in rules.rule(for: try RequestPath(parsing: path))?.upstreams.first?.host }
        #expect(try rule("/api/v1/x") == "one")
        #expect(try rule("/api/v2/x") == "two")
        #expect(try rule("/other") == nil)
    }

    @Test func `stands in a file, as a member of what all share`() throws {
        let text = """
            {"format": "patchline-proxies-v1", "timeoutSeconds": 5, "rules": [
              {"pattern": "/api/.*", "to": ["https://a.example/v2", "https://b.example/v2"], "cookiePath": "/"},
              {"pattern": "/pay/.*", "to": ["https://pay.example"]}]}
            """
        let file = try ProxyFile(Array(text.utf8), named: "proxies.json")
        #expect(file.rules.map(\.pattern.text) == ["/api/.*", "/pay/.*"])
        #expect(file.rules.map(\.cookiePath) == ["/", nil])
        #expect(file.rules[0].upstreams.map(\.description) == ["https://a.example/v2", "https://b.example/v2"])
        #expect(file.timeoutSeconds == 5 && file.authorities == nil)
    }

    @Test(arguments: [
        (#"{"format": "patchline-proxies-v2", "rules": []}"#, "f: format must be patchline-proxies-v1"),
        (#"{"format": "patchline-proxies-v1", "rule": []}"#, "f: rule is not a known member"),
        (#"{"format": "patchline-proxies-v1"}"#, "f: rules must be an array"),
        (
            #"{"format": "patchline-proxies-v1", "rules": [{"pattern": "/(", "to": ["http://a"]}]}"#,
            "f: rules[0] has a pattern that has an unbalanced bracket at character 2"
        ),
        (
            #"{"format": "patchline-proxies-v1", "rules": [{"pattern": "/", "to": []}]}"#,
            "f: rules[0] must be PATTERN=URL, as in '/api/.*=https://api.example.com'"
        ),
        (
            #"{"format": "patchline-proxies-v1", "rules": [{"pattern": "/", "to": ["http://a"], "cookiePath": "x;"}]}"#,
            "f: rules[0] has a cookiePath that is not a path"
        ),
        (
            #"{"format": "patchline-proxies-v1", "rules": [{"pattern": "/", "url": "http://a"}]}"#,
            "f: rules[0].url is not a known member"
        ),
    ])
    func `in a file is refused with its place and its reason`(text: String, error: String) {
        let found = #expect(throws: FormatError.self) { try ProxyFile(Array(text.utf8), named: "f") }
        #expect(found?.description == error)
    }

    @Test(arguments: [
        (["/.*", "/shop/.*"], "f: rules[1].pattern is never used: the earlier /.* matches all its paths"),
        (["/a", "/b", "/a"], "f: rules[2].pattern is never used: the earlier /a matches all its paths"),
        (["/shop/.*", "/.*"], nil), (["/a", "/a/.*", "/a.*"], nil),
    ])
    func `in a file is refused where one before it leaves nothing for it`(patterns: [String], sentence: String?) {
        let rules = patterns.map { #"{"pattern": "\#($0)", "to": ["http://a"]}"# }.joined(separator: ", ")
        let text = #"{"format": "patchline-proxies-v1", "rules": [\#(rules)]}"#
        var found: String?
        do throws(FormatError) { _ = try ProxyFile(Array(text.utf8), named: "f") } catch { found = error.description }
        #expect(found == sentence)
    }

    @Test func `asks upstreams in its order, the missing ones last until their time is over`() throws {
        let clock = Clock()
        let order = UpstreamOrder { clock.now }
        let all = try ProxyRule(argument: "/=http://a,http://b,http://c").upstreams
        #expect(order.order(all).map(\.host) == ["a", "b", "c"])
        order.isMissing(all[0])
        #expect(order.order(all).map(\.host) == ["b", "c", "a"])
        order.isMissing(all[1])
        #expect(order.order(all).map(\.host) == ["c", "a", "b"])
        order.markAvailable(all[1])
        #expect(order.order(all).map(\.host) == ["b", "c", "a"])
        clock.advance(by: UpstreamOrder.penalty)
        #expect(order.order(all).map(\.host) == ["a", "b", "c"])
    }
}
