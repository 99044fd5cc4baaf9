import HTTPFiles
import NIOHTTP1
import Testing

@testable import AssetServer

@Suite("Who is let in")
struct AdmissionTests {
    private static let token = AccessToken(random: [UInt8](repeating: 0xAB, count: 16))
    private static let right = ("Cookie", "cdvToken_12552=\(token.text)")

    private func admission(
        _ target: String,
        _ fields: [(String, String)] = [],
        method: HTTPMethod = .GET,
        _ change: (inout Access) -> Void = { _ in }
    ) throws -> Admission {
        var access = Access(token: Self.token)
        change(&access)
        return Admission(try request(target, fields, method: method), to: access, port: AssetServer.port)
    }

    /// `in`, with a query where one is left, or a status.
    private func outcome(_ admission: Admission) -> String {
        switch admission {
        case .admitted(let query, _): query.map { "in ?\($0)" } ?? "in"
        case .answered(let answer): answer.summary
        }
    }

    // MARK: Token (M21)

    @Test(
        arguments: [
            ("/", [], "403"), ("/?cdvToken=\(token.text)", [], "in"),
            ("/a.js?v=1&cdvToken=\(token.text)", [], "in ?v=1"),
            ("/?cdvToken=", [], "403"), ("/?cdvToken=\(token.text)0", [], "403"),
            ("/?cdvToken=\(token.text.uppercased())", [], "403"), ("/?cdvToken=\(token.text.dropLast())1", [], "403"),
            ("/?cdvtoken=\(token.text)", [], "403"), ("/?xcdvToken=\(token.text)", [], "403"),
            ("/a.js?v=1", [right], "in ?v=1"), ("/", [("Cookie", "a=b; cdvToken_12552=\(token.text);c=d")], "in"),
            ("/", [("Cookie", "a=b"), right], "in"), ("/", [("Cookie", "cdvToken_12553=\(token.text)")], "403"),
            ("/", [("Cookie", "cdvToken_12552=\(token.text)0")], "403"), ("/", [("Cookie", "cdvToken_12552=")], "403"),
            ("/", [("Cookie", "cdvToken_12552=old; cdvToken_12552=\(token.text)")], "in"),
            ("/a.js?cdvToken=old", [right], "in"), ("/", [("Authorization", "Bearer \(token.text)")], "403"),
        ] as [(String, [(String, String)], String)]
    )
    func `is whoever shows the token, in the query or in the cookie of this port`(
        target: String,
        fields: [(String, String)],
        expected: String
    ) throws {
        #expect(outcome(try admission(target, fields)) == expected)
    }

    @Test func `is told in a sentence what is missing, and nobody keeps that answer`() throws {
        guard case .answered(.refused(.forbidden, let message, let headers)) = try admission("/") else {
            Issue.record("let in")
            return
        }
        #expect(message == "Only the app gets in here: open the URL that carries its access token.")
        #expect(headers["Cache-Control"] == ["no-store"])
    }

    @Test func `gets a strict cookie for the token of the first URL, and none for a cookie`() throws {
        guard case .admitted(_, let first) = try admission("/a.js?cdvToken=\(Self.token.text)"),
            case .admitted(_, let later) = try admission("/a.js", [Self.right])
        else {
            Issue.record("not let in")
            return
        }
        let cookie = "cdvToken_12552=\(Self.token.text); Path=/; HttpOnly; SameSite=Strict"
        #expect(first["Set-Cookie"] == [cookie])
        #expect(later.isEmpty)
    }

    @Test(arguments: [
        ("/?cdvToken=TOKEN", "/"), ("/caf%C3%A9/a%20b?x=%20&cdvToken=TOKEN&y", "/caf%C3%A9/a%20b?x=%20&y"),
        ("//evil.example/?cdvToken=TOKEN", "/evil.example/"), ("/docs/?cdvToken=TOKEN", "/docs/"),
        ("/%2e%2e/X?cdvToken=TOKEN", "/X"),
    ])
    func `is sent on to the same page without the token when it opens a page`(target: String, location: String) throws {
        let target = target.replacing("TOKEN", with: Self.token.text)
        for fields in [[("Sec-Fetch-Mode", "navigate")], [("Accept", "text/html,*/*")]] {
            guard case .answered(.refused(.seeOther, _, let headers)) = try admission(target, fields) else {
                Issue.record("not sent on")
                continue
            }
            #expect(headers["Location"] == [location])
            #expect(headers["Set-Cookie"].count == 1 && headers["Cache-Control"] == ["no-store"])
        }
        #expect(outcome(try admission(target, [("Sec-Fetch-Mode", "cors"), ("Accept", "text/html")])).hasPrefix("in"))
    }

    /// A strict cookie does not travel with a redirect that another site began.
    @Test func `goes on by itself when another site opened the page`() throws {
        let fields = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Site", "cross-site")]
        guard case .answered(.bytes(let page)) = try admission("/cart?cdvToken=\(Self.token.text)", fields) else {
            Issue.record("not answered")
            return
        }
        #expect(page.headers["Refresh"] == ["0; url=/cart"])
        #expect(page.headers["Set-Cookie"].count == 1)
    }

    @Test func `is everybody where no token is asked for, and a query stays as it is`() throws {
        #expect(outcome(try admission("/?cdvToken=x") { $0.token = nil }) == "in ?cdvToken=x")
    }

    // MARK: Host: DNS rebinding

    @Test(arguments: [
        ("127.0.0.1:12552", "in"), ("localhost:12552", "in"), ("LOCALHOST:12552", "in"), ("[::1]:12552", "in"),
        ("evil.example:12552", "421"), ("127.0.0.1", "421"), ("127.0.0.1:80", "421"), ("127.0.0.1:125520", "421"),
        ("127.0.0.1.evil.example:12552", "421"), ("127.0.0.2:12552", "421"), ("localhost.:12552", "421"), ("", "421"),
    ])
    func `names this server as its host, whatever else it has`(host: String, expected: String) throws {
        #expect(outcome(try admission("/", [("Host", host), Self.right])) == expected)
        #expect(outcome(try admission("/", [("Host", host)]) { $0.token = nil }) == expected)
    }

    // MARK: Origin

    @Test(
        arguments: [
            ([("Origin", "http://127.0.0.1:12552")], "in"), ([("Origin", "http://localhost:12552")], "403"),
            ([("Origin", "null")], "403"), ([("Origin", "http://127.0.0.1:12553")], "403"),
            ([("Origin", "https://127.0.0.1:12552")], "403"), ([("Origin", "http://evil.example")], "403"),
            ([], "in"), ([("Sec-Fetch-Site", "same-origin")], "in"), ([("Sec-Fetch-Site", "cross-site")], "403"),
            ([("Sec-Fetch-Site", "same-site")], "403"),
        ] as [([(String, String)], String)]
    )
    func `changes nothing from another site`(fields: [(String, String)], expected: String) throws {
        for method in [HTTPMethod.POST, .PUT, .PATCH, .DELETE] {
            #expect(outcome(try admission("/", fields + [Self.right], method: method)) == expected)
        }
        let upgrade = [("Upgrade", "websocket"), ("Connection", "upgrade")]
        #expect(outcome(try admission("/", fields + upgrade + [Self.right])) == expected)
        // Reading shows another site nothing; where its browser says that it is another, it does not even ask.
        let isOther = fields.contains { $0 == "Sec-Fetch-Site" && ["same-site", "cross-site"].contains($1) }
        #expect(outcome(try admission("/api/empty-the-cart", fields + [Self.right])) == (isOther ? expected : "in"))
        let link = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
        #expect(outcome(try admission("/", fields + link + [Self.right])) == "in", "a link leads here from anywhere")
    }

    @Test func `reads from another origin only where a setting names it`() throws {
        let other = [("Origin", "http://127.0.0.1:3000"), Self.right]
        guard case .admitted(_, let fields) = try admission("/", other) else {
            Issue.record("not let in")
            return
        }
        #expect(!fields.contains(name: "Access-Control-Allow-Origin"))
        guard
            case .admitted(_, let named) = try admission(
                "/",
                other,
                method: .POST,
                {
                    $0.origins = ["http://127.0.0.1:3000"]
                }
            )
        else {
            Issue.record("not let in")
            return
        }
        #expect(named["Access-Control-Allow-Origin"] == ["http://127.0.0.1:3000"])
        #expect(named["Access-Control-Allow-Credentials"] == ["true"] && named["Vary"] == ["Origin"])
        let without = try admission("/", [Self.right]) { $0.origins = ["http://127.0.0.1:3000"] }
        guard case .admitted(_, let plain) = without else {
            Issue.record("not let in")
            return
        }
        #expect(plain["Vary"] == ["Origin"] && !plain.contains(name: "Access-Control-Allow-Origin"))
    }

    @Test func `is asked beforehand without a token, and told only about origins that a setting names`() throws {
        let fields = [("Origin", "http://127.0.0.1:3000"), ("Access-Control-Request-Method", "PUT")]
        #expect(outcome(try admission("/", fields, method: .OPTIONS)) == "403")
        let named = try admission("/", fields, method: .OPTIONS) { $0.origins = ["http://127.0.0.1:3000"] }
        #expect(outcome(named) == "204 bytes")
    }

    // MARK: What every answer says

    @Test func `gets every answer under the same security headers, refusals too`() async throws {
        var settings = AssetServer.Settings(access: Access(token: Self.token))
        settings.access.setHeader("X-Frame-Options", to: nil)
        settings.access.setHeader("Referrer-Policy", to: "no-referrer")
        settings.access.setHeader("Permissions-Policy", to: "camera=()")
        let server = AssetServer(settings)
        server.listening(on: AssetServer.port)
        server.connect(SampleHost())
        server.serve(ServedSelection(table: try SampleBundle.table(), launch: nil))
        let targets = [
            "/", "/nothing/favicon.ico", "/favicon.ico", "/__patchline/status", "/__patchline/launch.js",
            "/__patchline/events",
        ]
        for target in targets + targets.map({ "\($0)?cdvToken=\(Self.token.text)" }) {
            let headers = try await server.get(target).headers
            #expect(headers["Cross-Origin-Resource-Policy"] == ["same-origin"], "\(target)")
            #expect(headers["Cross-Origin-Opener-Policy"] == ["same-origin-allow-popups"], "\(target)")
            #expect(headers["Content-Security-Policy"] == ["frame-ancestors 'self'"], "\(target)")
            #expect(headers["Referrer-Policy"] == ["no-referrer"], "\(target)")
            #expect(headers["Permissions-Policy"] == ["camera=()"], "\(target)")
            #expect(headers["X-Frame-Options"] == [], "\(target)")
        }
    }

    @Test func `has a token that is 32 lowercase hex digits and no other text`() {
        #expect(AccessToken("0123456789abcdef0123456789abcdef")?.text == "0123456789abcdef0123456789abcdef")
        for text in ["", "0123456789ABCDEF0123456789abcdef", "0123456789abcdef0123456789abcde", "g" + Self.token.text] {
            #expect(AccessToken(text) == nil)
        }
        #expect(AccessToken.make() != AccessToken.make())
    }
}

extension FileAnswer {
    var headers: HTTPHeaders {
        switch self {
        case .file(let file): file.headers
        case .bytes(let bytes): bytes.headers
        case .stream(let stream): stream.headers
        case .tunnel(let tunnel): tunnel.headers
        case .refused(_, _, let headers): headers
        }
    }
}
