import HTTPTesting
import PatchCrypto
import HTTPFiles
import NIOCore
import NIOHTTP1
import PatchTesting
import Testing

import PageTesting
@testable import AssetServer

@Suite("Who is let in")
struct AdmissionTests {
    private static let token = AccessToken(random: [UInt8](repeating: 0xAB, count: 16))
    private static let pass = AccessToken(random: [UInt8](repeating: 0xCD, count: 16))
    private static let right = ("Cookie", "cdvToken_12552=\(pass.text)")

    private func admission(
        _ target: String,
        _ fields: [(String, String)] = [],
        method: HTTPMethod = .GET,
        _ change: (inout Access) -> Void = { _ in }
    ) throws -> Admission {
        var access = Access(token: Self.token, under: .shared)
        change(&access)
        let session = Session(port: AssetServer.port, pass: Self.pass)
        return Admission(try request(target, fields, method: method), to: access, in: session)
    }

    /// `in`, with a query where one is left, or a status.
    private func outcome(_ admission: Admission) -> String {
        switch admission {
        case .admitted(let query, _): query.map { "in ?\($0)" } ?? "in"
        case .answered(let answer): answer.summary
        case .manifestOnly: "in for a manifest"
        case .entering: "asks for the cookie"
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
            ("/a.js?v=1", [right], "in ?v=1"), ("/", [("Cookie", "a=b; cdvToken_12552=\(pass.text);c=d")], "in"),
            ("/", [("Cookie", "a=b"), right], "in"), ("/", [("Cookie", "cdvToken_12553=\(pass.text)")], "403"),
            ("/", [("Cookie", "cdvToken_12552=\(pass.text)0")], "403"), ("/", [("Cookie", "cdvToken_12552=")], "403"),
            ("/", [("Cookie", "cdvToken_12552=old; cdvToken_12552=\(pass.text)")], "in"),
            ("/a.js?cdvToken=old", [right], "in"), ("/", [("Cookie", "cdvToken_12552=\(token.text)")], "403"),
            ("/?cdvToken=\(pass.text)", [], "403"), ("/", [("Authorization", "Bearer \(token.text)")], "403"),
        ] as [(String, [(String, String)], String)]
    )
    func `is whoever shows the token in the query, or what it was turned into in the cookie of this port`(
        target: String,
        fields: [(String, String)],
        expected: String
    ) throws {
        #expect(outcome(try admission(target, fields)) == expected)
    }

    @Test(
        arguments: [("/a.js", [right], true), ("/a.js", [], false), ("/a.js", [("Cookie", "cdvToken_12552=x")], false)]
            as [(String, [(String, String)], Bool)]
    )
    func `has shown a right by its token, so that its connection is the last to make room`(
        target: String,
        fields: [(String, String)],
        isShown: Bool
    ) async throws {
        for token in [Self.token, nil] {
            let server = AssetServer(AssetServer.Settings(access: Access(token: token, under: .shared)))
            server.listening(on: AssetServer.port, pass: Self.pass)
            let right = ClientAuthorization()
            let asked = try request(target, fields).with(right)
            let decision = server.decide(asked)
            #expect(!right.isShown, "nobody is answered yet")
            _ = await decision.answer(to: asked)
            #expect(right.isShown == (isShown && token != nil))
        }
    }

    @Test func `is told in a sentence what is missing, and nobody keeps that answer`() throws {
        guard case .answered(.refused(.forbidden, let message, let headers)) = try admission("/") else {
            Issue.record("let in")
            return
        }
        #expect(message == "Only the app has access: open the URL that contains its access token.")
        #expect(headers["Cache-Control"] == ["no-store"])
    }

    @Test func `gets a strict cookie for the token of the first URL, and none for a cookie`() throws {
        guard case .admitted(_, let first) = try admission("/a.js?cdvToken=\(Self.token.text)"),
            case .admitted(_, let later) = try admission("/a.js", [Self.right])
        else {
            Issue.record("not let in")
            return
        }
        let cookie = "cdvToken_12552=\(Self.pass.text); Path=/; HttpOnly; SameSite=Strict"
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

    @Test func `is sent on to a path that can name no file as the client spells it`() throws {
        let headers = HTTPHeaders([("Sec-Fetch-Mode", "navigate"), AssetServer.host])
        let target = "/package/@types%2Fnode/?cdvToken=\(Self.token.text)&x=%2F"
        let request = try FileRequest(getting: target, headers: headers, keepsEncoded: true)
        let session = Session(port: AssetServer.port, pass: Self.pass)
        guard
            case .answered(.refused(.seeOther, _, let fields)) =
                Admission(request, to: Access(token: Self.token, under: .shared), in: session)
        else {
            Issue.record("not sent on")
            return
        }
        #expect(fields["Location"] == ["/package/@types%2Fnode/?x=%2F"])
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

    @Test(arguments: [
        ("NAME.localhost:12552", "in"), ("name.LOCALHOST:12552", "in"), ("127.0.0.1:12552", "421"),
        ("localhost:12552", "421"), ("[::1]:12552", "421"), ("name.localhost:12553", "421"), ("name.localhost", "421"),
        ("name.localhost.:12552", "421"), ("a.name.localhost:12552", "421"), ("other.localhost:12552", "421"),
    ])
    func `names the app's own host and no other one of this machine, where it has its own`(
        host: String,
        expected: String
    ) throws {
        let fields = [("Host", host), Self.right]
        #expect(outcome(try admission("/", fields) { $0.hosts = ["name.localhost"] }) == expected)
        // Not even with the token, for a cookie would be set under the other name.
        let target = "/?cdvToken=\(Self.token.text)"
        #expect(outcome(try admission(target, [("Host", host)]) { $0.hosts = ["name.localhost"] }) == expected)
    }

    @Test func `is refused with a cookie of a launch that is over, and told how to get in again`() throws {
        let server = AssetServer(.init(access: Access(token: Self.token, under: .shared)))
        server.listening(on: AssetServer.port, pass: Self.pass)
        server.serve(ServedSelection(table: try SampleBundle.table(), launch: nil))
        #expect(server.prepared(try request("/app/main.js", [Self.right]))?.answer.summary == "app/main.js")
        server.listening(on: AssetServer.port)
        guard
            case .refused(.forbidden, let message, _)? = server.prepared(try request("/app/main.js", [Self.right]))?
                .answer
        else {
            Issue.record("let in")
            return
        }
        #expect(
            message
                == "Only the app has access, and it was restarted: open the URL that contains its access token."
        )
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
        #expect(outcome(try admission("/", other, method: .POST)) == "403")
        #expect(outcome(try admission("/", other, method: .POST) { $0.origins = ["http://127.0.0.1:3000"] }) == "in")

        func fields(_ origins: Set<String>, _ headers: HTTPHeaders?) -> HTTPHeaders {
            var settings = AssetServer.Settings(access: Access(token: Self.token, under: .shared))
            settings.access.origins = origins
            return AssetServer(settings).everyAnswerFields(to: headers)
        }
        let headers = HTTPHeaders(other)
        #expect(!fields([], headers).contains(name: "Access-Control-Allow-Origin"))
        #expect(fields([], headers)["Cross-Origin-Resource-Policy"] == ["same-origin"])
        let named = fields(["http://127.0.0.1:3000"], headers)
        #expect(named["Access-Control-Allow-Origin"] == ["http://127.0.0.1:3000"])
        #expect(named["Access-Control-Allow-Credentials"] == ["true"] && named["Vary"] == ["Origin"])
        #expect(named["Cross-Origin-Resource-Policy"] == ["cross-origin"])
        let plain = fields(["http://127.0.0.1:3000"], HTTPHeaders([Self.right]))
        #expect(plain["Vary"] == ["Origin"] && !plain.contains(name: "Access-Control-Allow-Origin"))
        #expect(fields(["http://127.0.0.1:3000"], nil)["Cross-Origin-Resource-Policy"] == ["same-origin"])
    }

    @Test func `is asked beforehand without a token, and told only about origins that a setting names`() throws {
        let fields = [("Origin", "http://127.0.0.1:3000"), ("Access-Control-Request-Method", "PUT")]
        #expect(outcome(try admission("/", fields, method: .OPTIONS)) == "403")
        let named = try admission("/", fields, method: .OPTIONS) { $0.origins = ["http://127.0.0.1:3000"] }
        #expect(outcome(named) == "204 bytes")
    }

    // MARK: What every answer says

    @Test func `gets every answer under the same security headers, refusals too`() async throws {
        var settings = AssetServer.Settings(access: Access(token: Self.token, under: .shared))
        settings.access.setHeader("X-Frame-Options", to: nil)
        settings.access.setHeader("Referrer-Policy", to: "no-referrer")
        settings.access.setHeader("Permissions-Policy", to: "camera=()")
        settings.access.origins = ["http://127.0.0.1:3000"]
        let server = AssetServer(settings)
        server.connect(SampleHost())
        server.serve(ServedSelection(table: try SampleBundle.table(), launch: nil))
        try await serving(server) { port in
            server.listening(on: port, pass: Self.pass)
            var app = Browser(port: port)
            app.cookie = "cdvToken_\(port)=\(Self.pass.text)"
            let stranger = Browser(port: port)
            let answers = [
                (404, try await app.ask("/nothing/favicon.ico")),
                (200, try await app.ask("/__patchline/status")), (200, try await app.ask("/__patchline/launch.js")),
                (304, try await app.ask("/__patchline/launch.js", [("If-None-Match", "*")])),
                (412, try await app.ask("/__patchline/launch.js", [("If-Match", "\"other\"")])),
                (416, try await app.ask("/__patchline/launch.js", [("Range", "bytes=9999999-")])),
                (400, try await app.ask("/%zz")), (405, try await app.ask("/", method: "POST")),
                (501, try await app.ask("/", method: "BREW")),
                (413, try await app.ask("/", [("Content-Length", "9999999")], method: "POST")),
                (403, try await stranger.ask("/")),
                (303, try await stranger.ask("/?cdvToken=\(Self.token.text)", [("Sec-Fetch-Mode", "navigate")])),
                (421, try await app.ask("/", [("Host", "evil.example")])),
            ]
            let names = "127.0.0.1:\(port), [::1]:\(port), localhost:\(port)"
            let body = answers.last?.1.body ?? ""
            #expect(
                body.contains("This app is served only as \(names), to protect it from pages of other sites."),
                "\(body)"
            )
            for (status, answer) in answers {
                #expect(answer.status == status)
                #expect(answer.field("Cross-Origin-Resource-Policy") == "same-origin", "\(status)")
                #expect(answer.field("Cross-Origin-Opener-Policy") == "same-origin-allow-popups", "\(status)")
                #expect(answer.field("Content-Security-Policy") == "frame-ancestors 'self'", "\(status)")
                #expect(answer.field("Referrer-Policy") == "no-referrer", "\(status)")
                #expect(answer.field("Permissions-Policy") == "camera=()", "\(status)")
                #expect(answer.field("X-Frame-Options") == nil, "\(status)")
            }
            let other = [("Origin", "http://127.0.0.1:3000")]
            let read = [
                (200, try await app.ask("/__patchline/launch.js", other)),
                (304, try await app.ask("/__patchline/launch.js", other + [("If-None-Match", "*")])),
                (412, try await app.ask("/__patchline/launch.js", other + [("If-Match", "\"other\"")])),
                (416, try await app.ask("/__patchline/launch.js", other + [("Range", "bytes=9999999-")])),
                (403, try await stranger.ask("/", other)), (400, try await app.ask("/%zz", other)),
                (405, try await app.ask("/", other, method: "POST")),
                (
                    204,
                    try await stranger.ask("/", other + [("Access-Control-Request-Method", "PUT")], method: "OPTIONS")
                ),
            ]
            for (status, answer) in read {
                #expect(answer.status == status)
                #expect(answer.field("Access-Control-Allow-Origin") == "http://127.0.0.1:3000", "\(status)")
                #expect(answer.field("Cross-Origin-Resource-Policy") == "cross-origin", "\(status)")
                #expect(answer.field("Vary") == "Origin", "\(status)")
            }
        }
    }

    @Test func `is opened by its token and by no other, wherever the difference lies and whatever it is`() {
        let digits = Array("0123456789abcdef".utf8)
        #expect(Self.token.matches(Self.token.text))
        for index in 0..<32 {
            for digit in digits where digit != Array(Self.token.text.utf8)[index] {
                var other = Array(Self.token.text.utf8)
                other[index] = digit
                #expect(!Self.token.matches(String(decoding: other, as: UTF8.self)), "digit \(index)")
            }
        }
        for text in ["", "a", String(Self.token.text.dropLast()), Self.token.text + "b", Self.token.text.uppercased()] {
            #expect(!Self.token.matches(text), "\(text)")
        }
        var chance = SeededGenerator(state: 17)
        for _ in 0..<10_000 {
            let (one, other) = (Self.random(&chance), Self.random(&chance))
            #expect(!one.matches(other.text), "\(one.text) \(other.text)")
        }
    }

    private static func random(_ chance: inout SeededGenerator) -> AccessToken {
        AccessToken(random: (0..<16).map { _ in .random(in: 0...255, using: &chance) })
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
        case .files(let files): files.headers
        case .stream(let stream): stream.headers
        case .tunnel(let tunnel): tunnel.headers
        case .refused(_, _, let headers): headers
        }
    }
}
