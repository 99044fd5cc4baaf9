import APIProxy
import HTTPFiles
import NIOHTTP1
import PatchFormat
import Testing

@Suite("A rule's pages")
struct LivePagesTests {
    private static func rules(_ pages: String) throws -> ProxyRules {
        let text = """
            {"format": "patchline-proxies-v1", "rules": [
              {"pattern": "/shop/.*", "to": ["https://shop.example/v2"], "pages": \(pages)}]}
            """
        return ProxyRules(try ProxyFile(Array(text.utf8), named: "f").rules)
    }

    @Test func `are read with all that a file says of them`() throws {
        let pages = try Self.rules(
            #"{"account": "sid", "untagged": true, "parameters": ["id"], "preload": ["/shop/home?x=1"]}"#
        ).rules[0].pages
        var expected = LivePages()
        expected.account = "sid"
        expected.takesUntagged = true
        expected.parameters = ["id"]
        expected.preload = ["/shop/home?x=1"]
        #expect(pages == expected)
        #expect(try Self.rules("{}").rules[0].pages == LivePages())
        #expect(try ProxyRule(argument: "/.*=http://a").pages == nil)
    }

    @Test(arguments: [
        ("1", "f: rules[0].pages must be an object"),
        (#"{"acount": "sid"}"#, "f: rules[0].pages.acount is not a known member"),
        (#"{"account": "a b"}"#, "f: rules[0].pages.account must be the name of a cookie"),
        (#"{"account": ""}"#, "f: rules[0].pages.account must be the name of a cookie"),
        (#"{"untagged": 1}"#, "f: rules[0].pages.untagged must be true or false"),
        (
            #"{"preload": ["/shop/a", "/other"]}"#,
            "f: rules[0].pages.preload[1] must be a path that the rule's pattern matches"
        ),
        (
            #"{"preload": ["http://shop.example/shop/a"]}"#,
            "f: rules[0].pages.preload[0] must be a path that the rule's pattern matches"
        ),
        (
            #"{"preload": ["/shop/1", "/shop/2", "/shop/3", "/shop/4", "/shop/5", "/shop/6"]}"#,
            "f: rules[0].pages.preload must hold at most 5 elements"
        ),
    ])
    func `are refused with their place and their reason`(pages: String, error: String) {
        let found = #expect(throws: FormatError.self) { try Self.rules(pages) }
        #expect(found?.description == error)
    }

    @Test(arguments: [
        ("sid", ["a=b; sid=1; c"], "1"), ("sid", ["a=b", "sid=2"], "2"), ("sid", ["xsid=1"], nil),
        ("sid", ["sid=a=b"], "a=b"), ("__Host-sid", ["__PatchlineHost-sid=3"], "3"), ("sid", [], nil),
    ])
    func `are an account's by the cookie that it has here`(name: String, cookies: [String], account: String?) throws {
        var pages = LivePages()
        pages.account = name
        #expect(pages.account(of: HTTPHeaders(cookies.map { ("Cookie", $0) })) == account)
        #expect(LivePages().account(of: HTTPHeaders(cookies.map { ("Cookie", $0) })) == nil)
    }

    @Test(arguments: [
        ("sid=1; Path=/", "1", false), ("sid=2", "1", true), ("sid=1", nil, true), ("sid=", "1", true),
        ("other=2", "1", false),
    ])
    func `are another account's once an answer says so`(cookie: String, current: String?, changes: Bool) {
        var pages = LivePages()
        pages.account = "sid"
        #expect(pages.changesAccount(["Set-Cookie": cookie], from: current) == changes)
        #expect(!LivePages().changesAccount(["Set-Cookie": cookie], from: current))
    }

    @Test(arguments: [
        ("https://shop.example/v2/a.js?x=1", "/shop/a.js?x=1"), ("/v2/a.js", "/shop/a.js"), ("/a.js", nil),
        ("http://shop.example/v2/a.js", nil), ("//other.example/v2/a.js", nil), ("a.js", nil),
        ("https://shop.example.evil/v2/a.js", nil), ("/v2/%2F", nil), ("//shop.example//evil.example", nil),
        ("javascript:1", nil), ("", nil),
    ])
    func `link to what their server has, by the path that leads there`(url: String, target: String?) throws {
        let rules = try Self.rules("{}")
        #expect(rules.target(of: url, by: rules.rules[0]) == target)
    }
}
