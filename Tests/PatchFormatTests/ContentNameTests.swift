import PatchFormat
import Testing

@Suite("Names that carry their content")
struct ContentNameTests {
    @Test(arguments: [
        "main.3f9a1c07.js", "static/js/2.8e5bf7a1.chunk.js", "index-B7x3Kq9a.js", "index-D_x3-9aQ.css",
        "main-5INURTSO.js",
        "framework-2c79e2a64abdb08b.js", "6db9763f3e0f4e4cbf78111f73823043ab08e3e7.css",
        "6db9763f3e0f4e4cbf78111f73823043ab08e3e7/a.js", "img/logo.6ce24c58023cc2f8fd88fe9d219db6c6.svg",
        "/assets/app.1a2b3c4d5e.js.map",
    ])
    func `are those that a bundler made`(path: String) {
        #expect(ContentName.carriesContent(path))
    }

    @Test(arguments: [
        "main.js", "static/main.js", "report-20240101.js", "jquery-validate.js", "TodoItem.js",
        "components-TodoItem.js",
        "base64Encoder.js", "lib-utf8Encode.js", "Chapter10.html", "RELEASE2.js", "app.deadbeef", "jquery-3.7.1.min.js",
        "v1.2.3.js", "bootstrap.bundle.min.js", "3f9a1c07/main.js", "deadbeef.js", "12345678.js", "", "/", ".3f9a1c07",
        "i18nMessages.js", "service-worker.js", "icon-512x512.png", "arial-unicode-ms.woff2", "h264Decoder.js",
    ])
    func `are none that an author could have written`(path: String) {
        #expect(!ContentName.carriesContent(path))
    }
}

@Suite("Patterns of files")
struct FilePatternTests {
    @Test(
        arguments: [
            ("**", "a.js", true), ("**", "a/b/c.js", true), ("*.html", "a.html", true), ("*.html", "a/b.html", false),
            ("**/*.html", "a.html", true), ("**/*.html", "a/b/c.html", true), ("a/**", "a/b", true),
            ("a/**", "b/a", false),
            ("/a/*.js", "a/b.js", true), ("a/**/b", "a/b", true), ("a/**/b", "a/x/y/b", true), ("a/**/b", "a/x", false),
            ("a?.js", "ab.js", true), ("*a*b*", "xaxxb", true), ("A.js", "a.js", false),
        ] as [(String, String, Bool)]
    )
    func `match folders with two stars and names with one`(pattern: String, path: String, matches: Bool) throws {
        #expect(try #require(FilePattern(pattern)).matches(path) == matches)
    }

    @Test(arguments: ["", "/", "a//b", "a/../b", "./a", "a**", "a/**b", "a\u{0}"])
    func `are refused where they could match nothing`(pattern: String) {
        #expect(FilePattern(pattern) == nil)
    }

    @Test func `are refused with what they must be`() {
        #expect(
            FilePattern.rule
                == "must be a path in the bundle, such as *.html, assets/* or **/*.js; ** must be all between two slashes"
        )
    }

    @Test func `take linear time`() throws {
        let pattern = try #require(FilePattern(Array(repeating: "**", count: 31).joined(separator: "/") + "/x"))
        #expect(!pattern.matches(Array(repeating: "a", count: 500).joined(separator: "/")))
    }
}

@Suite("The response headers of a release")
struct AllowedHeaderTests {
    @Test(
        arguments: [
            ("cross-origin-opener-policy", "same-origin", "Cross-Origin-Opener-Policy"),
            ("Cross-Origin-Embedder-Policy", "require-corp; report-to=\"a\"", "Cross-Origin-Embedder-Policy"),
            ("content-type", "text/html; charset=utf-8", "Content-Type"),
            ("Service-Worker-Allowed", "/", "Service-Worker-Allowed"),
            ("Cache-Control", "max-age=600, stale-while-revalidate=60", "Cache-Control"),
            ("X-Frame-Options", "DENY", "X-Frame-Options"),
            ("Content-Security-Policy", "img-src *", "Content-Security-Policy"),
        ]
    )
    func `are spelled as they are sent`(name: String, value: String, spelled: String) throws {
        #expect(try AllowedHeader.checked(name, value) == HeaderRule.Field(name: spelled, value: value))
    }

    @Test(
        arguments: [
            (["Set-Cookie"], "would set the same cookie on every device", "set it in a script of the app"),
            (
                [
                    "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "access-control-allow-methods",
                    "ACCESS-CONTROL-ALLOW-HEADERS",
                ],
                "would let other origins read the app",
                "the device's owner allows an origin: `patchsync serve --origin`"
            ),
            (
                [
                    "Server", "Date", "ETag", "Last-Modified", "Vary", "Content-Length", "Transfer-Encoding",
                    "Connection",
                    "Upgrade", "Accept-Ranges", "Content-Range",
                ],
                "is decided by the server for each answer", "remove it"
            ),
            (["Strict-Transport-Security"], "has no effect on http://NAME.localhost", "remove it"),
            (["Location"], "would redirect a file", "use a page with a refresh, or `routing: site`"),
            (["Refresh"], "would redirect a file", "write it into the page as a meta element"),
            (["Clear-Site-Data"], "would delete the device's access cookie", "delete data in a script of the app"),
            (["SourceMap", "X-SourceMap"], "is sent for a file with FILE.map beside it", "remove it"),
            (["Expires", "Pragma"], "is decided by Cache-Control", "use Cache-Control"),
            (
                ["X-Mine", "Set-Cookie2", "Access-Control-Max-Age"], "is not a header that a release may set",
                "the device's owner can: `patchsync serve --header`; a release sets Cache-Control, Content-Disposition, "
                    + "Content-Language, Content-Security-Policy, Content-Security-Policy-Report-Only, Content-Type, "
                    + "Cross-Origin-Embedder-Policy, Cross-Origin-Embedder-Policy-Report-Only, "
                    + "Cross-Origin-Opener-Policy, Cross-Origin-Opener-Policy-Report-Only, "
                    + "Cross-Origin-Resource-Policy, Document-Policy, Link, Origin-Agent-Cluster, Permissions-Policy, "
                    + "Referrer-Policy, Reporting-Endpoints, Service-Worker-Allowed, Timing-Allow-Origin, "
                    + "X-Content-Type-Options, X-Frame-Options, X-Robots-Tag"
            ),
        ] as [([String], String, String)]
    )
    func `are refused by name, with the rule and the way out`(names: [String], rule: String, hint: String) {
        for name in names {
            let refusal = #expect(throws: AllowedHeader.Refusal.self, "\(name)") {
                try AllowedHeader.checked(name, "x")
            }
            #expect(refusal?.rule == rule && refusal?.hint == hint, "\(name)")
        }
    }

    @Test(
        arguments: [
            (
                [
                    ("Referrer-Policy", "no-referrer"), ("Referrer-Policy", "origin"),
                    ("Referrer-Policy", "strict-origin"),
                ],
                "would hide which page asks, so that an open page could get files of another version",
                "use same-origin, strict-origin-when-cross-origin, origin-when-cross-origin, no-referrer-when-downgrade, "
                    + "unsafe-url"
            ),
            (
                [("Referrer-Policy", "x")], "must be one of its known values",
                "use same-origin, strict-origin-when-cross-origin, origin-when-cross-origin, no-referrer-when-downgrade, "
                    + "unsafe-url"
            ),
            ([("X-Frame-Options", "ALLOWALL")], "must be one of its known values", "use DENY, SAMEORIGIN"),
            (
                [("Cache-Control", "max-age=31536001"), ("Cache-Control", "forever")],
                "holds an unknown directive, or a time above a year",
                "use no-cache, no-store, private, public, must-revalidate, immutable, no-transform or max-age=SECONDS"
            ),
            (
                [("Content-Type", "html"), ("Content-Type", "text/"), ("Content-Type", "text/a/b")],
                "must be a media type", "write type/subtype, such as text/html; charset=utf-8"
            ),
            ([("Service-Worker-Allowed", "x")], "must be a path", "write it from the root: /"),
            (
                [
                    ("Link", "a\r\nSet-Cookie: b"), ("Link", ""), ("Link", " a"), ("Link", "a "), ("Link", "ü"),
                    ("Link", String(repeating: "a", count: 4_097)),
                ],
                "must be 1 to 4096 characters of printable ASCII", "write it in one line, without spaces around it"
            ),
        ] as [([(String, String)], String, String)]
    )
    func `are refused by value, with the rule and the way out`(
        fields: [(String, String)],
        rule: String,
        hint: String
    ) {
        for (name, value) in fields {
            let refusal = #expect(throws: AllowedHeader.Refusal.self, "\(name): \(value)") {
                try AllowedHeader.checked(name, value)
            }
            #expect(refusal?.rule == rule && refusal?.hint == hint, "\(name): \(value)")
        }
    }

    @Test func `of a bundle are limited in their rules, in the fields of one, and in their bytes`() throws {
        let pattern = try #require(FilePattern("**"))
        func rules(_ count: Int, _ fields: Int, bytes: Int = 5) -> [HeaderRule] {
            let field = HeaderRule.Field(name: "Link", value: String(repeating: "a", count: bytes - 4))
            return Array(
                repeating: HeaderRule(pattern: pattern, fields: Array(repeating: field, count: fields)),
                count: count
            )
        }
        #expect(HeaderRule.problem(of: rules(100, 20)) == nil)
        #expect(HeaderRule.problem(of: rules(101, 1)) == "must hold at most 100 elements")
        #expect(HeaderRule.problem(of: rules(1, 21)) == "must hold at most 20 fields for one path")
        #expect(HeaderRule.problem(of: rules(4, 1, bytes: 4_096)) == nil)
        #expect(HeaderRule.problem(of: rules(4, 1, bytes: 4_097)) == "must hold at most 16384 bytes in all")
    }

    @Test(
        arguments: [
            ("no-store", false), ("no-cache, max-age=60", false), ("max-age=0", false), ("max-age=60", true),
            ("public", true), ("immutable, max-age=31536000", true),
        ]
    )
    func `tell whether a browser may keep an answer`(value: String, keeps: Bool) {
        #expect(CacheRule(value)?.keeps == keeps)
    }
}
