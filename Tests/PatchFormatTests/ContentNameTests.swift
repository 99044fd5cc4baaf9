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
            ("Set-Cookie", "a=b", "would set the same cookie on every device"),
            ("Access-Control-Allow-Origin", "*", "would let other origins read the app"),
            ("Clear-Site-Data", "\"*\"", "would delete the device's access cookie"),
            ("X-Mine", "1", "is not a header that a release may set"),
            (
                "Referrer-Policy", "no-referrer",
                "would hide which page asks, so that an open page could get files of another version"
            ),
            ("Referrer-Policy", "x", "must be one of its known values"),
            ("X-Frame-Options", "ALLOWALL", "must be one of its known values"),
            ("Cache-Control", "max-age=31536001", "holds an unknown directive, or a time above a year"),
            ("Cache-Control", "forever", "holds an unknown directive, or a time above a year"),
            ("Content-Type", "html", "must be a media type"), ("Service-Worker-Allowed", "x", "must be a path"),
            ("Link", "a\r\nSet-Cookie: b", "must be 1 to 4096 characters of printable ASCII"),
            ("Link", "", "must be 1 to 4096 characters of printable ASCII"),
        ]
    )
    func `are refused with a reason`(name: String, value: String, rule: String) {
        let refusal = #expect(throws: AllowedHeader.Refusal.self) { try AllowedHeader.checked(name, value) }
        #expect(refusal?.rule == rule)
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
