import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import Testing

@testable import APIProxy

/// A clock that a test moves.
final class Clock: Sendable {
    private let time = NIOLockedValueBox(ContinuousClock.now)
    var now: ContinuousClock.Instant { time.withLockedValue(\.self) }
    func advance(by duration: Duration) { time.withLockedValue { $0 += duration } }
}

private func asked(_ headers: HTTPHeaders) throws -> [String] {
    let upstream = try #require(Upstream("https://api.example.com"))
    let request = try FileRequest.get("/api/x", headers)
    return HTTPHeaders(of: request, for: upstream, reservedCookies: "cdvToken").map { "\($0): \($1)" }.sorted()
}

@Suite("A request's fields, passed on")
struct RequestFieldsTests {
    @Test func `keep what is the page's, and name the upstream as their host`() throws {
        let fields = try asked(["Host": "127.0.0.1:12000", "Accept-Encoding": "br", "Authorization": "Bearer x"])
        #expect(fields == ["Accept-Encoding: br", "Authorization: Bearer x", "Host: api.example.com"])
    }

    @Test func `lose those of one connection, also those that Connection names`() throws {
        let fields = try asked([
            "Host": "h", "Connection": "close, X-Once", "X-Once": "1", "Keep-Alive": "1", "TE": "trailers",
            "Transfer-Encoding": "chunked", "Upgrade": "h2c", "HTTP2-Settings": "x", "Proxy-Authorization": "x",
            "Content-Length": "5", "Expect": "100-continue", "Trailer": "X",
        ])
        #expect(fields == ["Host: api.example.com"])
    }

    @Test func `say nothing of the device: neither its address nor that there is a proxy`() throws {
        let fields = try asked([
            "Host": "h", "Forwarded": "for=1.2.3.4", "X-Forwarded-For": "1.2.3.4", "x-forwarded-host": "evil",
            "X-Real-IP": "1.2.3.4", "Via": "1.1 x",
        ])
        #expect(fields == ["Host: api.example.com"])
    }

    @Test(arguments: [
        ("http://127.0.0.1:12000", "https://api.example.com"), ("https://other.example", "https://other.example"),
        ("null", "null"), ("http://127.0.0.1:12001", "http://127.0.0.1:12001"),
    ])
    func `have the upstream's origin where they have the device's`(origin: String, expected: String) throws {
        let fields = try asked(["Host": "127.0.0.1:12000", "Origin": origin])
        #expect(fields.contains("Origin: \(expected)"))
    }

    @Test(arguments: [
        ("http://127.0.0.1:12000/cart?cdvToken=secret", "https://api.example.com/"),
        ("http://127.0.0.1:120000/", "http://127.0.0.1:120000/"),
    ])
    func `do not tell which page asks`(referer: String, expected: String) throws {
        let fields = try asked(["Host": "127.0.0.1:12000", "Referer": referer])
        #expect(fields.contains("Referer: \(expected)"))
    }

    @Test func `have no cookie of the device's own, of whatever port`() throws {
        let cookies = "a=1; cdvToken_12000=secret;cdvToken_1=x; CDVTOKEN=y; __PatchlineHost-id=2"
        #expect(try asked(["Host": "h", "Cookie": cookies]).first == "Cookie: a=1; __Host-id=2")
        #expect(try asked(["Host": "h", "Cookie": "cdvToken_1=x"]) == ["Host: api.example.com"])
    }
}

@Suite("An answer's fields, passed back")
struct ResponseFieldsTests {
    private func passed(_ fields: HTTPHeaders, rules texts: [String], cookiePath: String? = nil) throws -> HTTPHeaders {
        var rules: [ProxyRule] = []
        for text in texts {
            let rule = try ProxyRule(argument: text)
            rules.append(ProxyRule(rule.pattern, to: rule.upstreams, cookiePath: cookiePath))
        }
        return HTTPHeaders(
            from: fields,
            of: rules[0].upstreams[0],
            by: rules[0],
            in: ProxyRules(rules),
            reserved: "cdvToken"
        )
    }

    private let one = ["/api/.*=https://a.example/v2"]
    private let two = ["/api/.*=https://a.example/v2", "/pay/.*=https://pay.example"]

    @Test(arguments: [
        ("s=1; Path=/", "s=1"), ("s=1", "s=1"), ("s=1; Path=/v2", "s=1; Path=/api"),
        ("s=1; Path=/v2/x", "s=1; Path=/api/x"), ("s=1; path=/elsewhere", "s=1; Path=/"),
        ("s=1; Domain=a.example; Secure; HttpOnly", "s=1; HttpOnly"),
        ("s=1; SameSite=None; Secure; Partitioned", "s=1"), ("s=1; SameSite=Lax", "s=1; SameSite=Lax"),
        (
            "s=1; Max-Age=60; Expires=Wed, 21 Oct 2015 07:28:00 GMT",
            "s=1; Max-Age=60; Expires=Wed, 21 Oct 2015 07:28:00 GMT"
        ),
        ("__Host-s=1; Path=/; Secure", "__PatchlineHost-s=1"), ("__secure-s=1; Secure", "__PatchlineSecure-s=1"),
        ("s=a=b; Path=/", "s=a=b"), ("cdvToken_12000=x; Path=/", nil), ("CDVtoken=x", nil), ("=x", nil), ("", nil),
    ])
    func `have cookies that the device's origin can keep`(cookie: String, kept: String?) throws {
        let found = try passed(["Set-Cookie": cookie], rules: one)["Set-Cookie"]
        // Path=/ says where it stands only when it must.
        let expected = kept.map { cookie.contains("Path=/") && !$0.contains("Path=") ? ["\($0); Path=/"] : [$0] } ?? []
        #expect(found == expected)
    }

    @Test(arguments: [
        ("s=1; Path=/", "s=1; Path=/api"), ("s=1", "s=1; Path=/api"), ("s=1; Path=/v2/x", "s=1; Path=/api/x"),
        ("s=1; Path=/v2", "s=1; Path=/api"),
    ])
    func `have cookies that no other upstream gets`(cookie: String, kept: String) throws {
        #expect(try passed(["Set-Cookie": cookie], rules: two)["Set-Cookie"] == [kept])
    }

    @Test func `have cookies for the path that the rule names`() throws {
        #expect(try passed(["Set-Cookie": "s=1; Path=/"], rules: two, cookiePath: "/")["Set-Cookie"] == ["s=1; Path=/"])
    }

    @Test(arguments: [
        ("https://a.example/v2/items/3?q=1#x", "/api/items/3?q=1#x"), ("https://A.EXAMPLE:443/v2/x", "/api/x"),
        ("//a.example/v2/x", "/api/x"), ("/v2/x/", "/api/x/"), ("/login", "https://a.example/login"),
        ("https://a.example", "https://a.example/"), ("items/4", "items/4"), ("?page=2", "?page=2"),
        ("https://b.example/v2/x", "https://b.example/v2/x"), ("http://a.example/v2/x", "http://a.example/v2/x"),
        ("https://a.example@evil/v2/x", "https://a.example@evil/v2/x"), ("myapp://v2/x", "myapp://v2/x"),
    ])
    func `lead to where the page can go on`(location: String, expected: String) throws {
        #expect(try passed(["Location": location], rules: one)["Location"] == [expected])
    }

    private static let inner = "http://127.0.0.1:3000"

    @Test(arguments: [
        ("\(inner)//evil.example/x", "/.//evil.example/x"), ("\(inner)///evil.example", "/.///evil.example"),
        ("\(inner)/\\evil.example", "/./\\evil.example"), ("\(inner)/\t/evil.example", "/./\t/evil.example"),
        ("HTTP://127.0.0.1:3000//evil.example", "/.//evil.example"),
        ("//127.0.0.1:3000//evil.example", "/.//evil.example"), ("/\\evil.example", "/./\\evil.example"),
        ("/\t/evil.example", "/./\t/evil.example"), ("\(inner)//evil.example?q#f", "/.//evil.example?q#f"),
        ("\(inner)/a%2Fb", "/a%2Fb"), ("\(inner)/a//b", "/a//b"), ("\(inner)/.well-known/x", "/.well-known/x"),
        ("//evil.example/x", "//evil.example/x"), ("https://evil.example", "https://evil.example"),
    ])
    func `never lead elsewhere where the site's own lead to the site`(location: String, expected: String) throws {
        let rules = ["/.*=\(Self.inner)"]
        let rule = try ProxyRule(argument: rules[0])
        for name in ["Location", "Content-Location"] {
            let site = HTTPHeaders(
                ofSite: [name: location],
                at: rule.upstreams[0],
                by: rule,
                in: ProxyRules([rule])
            )
            #expect(site[name] == [expected])
            #expect(try passed([name: location], rules: rules)[name] == [expected])
        }
    }

    @Test(arguments: [
        ("0; url=https://a.example/v2/x", "0; url=/api/x"), ("5;URL='https://a.example/v2/x'", "5;URL='/api/x'"),
        ("0, https://a.example/v2/x", "0, /api/x"), ("1; url = \"/v2/x\"", "1; url = \"/api/x\""), ("30", "30"),
        ("0; url=https://b.example/", "0; url=https://b.example/"), ("0; url=", "0; url="), (";", ";"), ("", ""),
    ])
    func `refresh from where the page can go on`(refresh: String, expected: String) throws {
        #expect(try passed(["Refresh": refresh], rules: one)["Refresh"] == [expected])
    }

    @Test(arguments: [
        ("<https://a.example/v2/x.css>; rel=preload", "</api/x.css>; rel=preload"),
        (
            "</v2/a,b>; rel=next; title=\"/v2/x < y\", <https://b.example/>; rel=me",
            "</api/a,b>; rel=next; title=\"/v2/x < y\", <https://b.example/>; rel=me"
        ),
        ("<?page=2>; anchor=\"https://a.example/v2/x\"", "<?page=2>; anchor=\"/api/x\""), ("<", "<"), ("a", "a"),
        ("<https://a.example/v2/x", "</api/x"), ("", ""),
    ])
    func `link to where the page can go on`(link: String, expected: String) throws {
        #expect(try passed(["Link": link], rules: one)["Link"] == [expected])
    }

    @Test func `keep each of several links`() throws {
        let links: HTTPHeaders = ["Link": "<https://a.example/v2/x>; rel=next", "link": "<https://a.example/v2/y>"]
        #expect(try passed(links, rules: one)["Link"] == ["</api/x>; rel=next", "</api/y>"])
    }

    @Test func `lose what upstreams say about their own origin and connection`() throws {
        let fields: HTTPHeaders = [
            "Connection": "keep-alive, X-Once", "X-Once": "1", "Keep-Alive": "timeout=5",
            "Transfer-Encoding": "chunked",
            "Strict-Transport-Security": "max-age=1", "Alt-Svc": "h3", "Clear-Site-Data": "*",
            "Cross-Origin-Resource-Policy": "cross-origin",
            "Service-Worker-Allowed": "/", "Access-Control-Allow-Origin": "*", "X-Kept": "yes", "ETag": "\"1\"",
        ]
        let passed = try passed(fields, rules: one)
        #expect(passed.map(\.name).sorted() == ["ETag", "X-Kept"])
    }
}
