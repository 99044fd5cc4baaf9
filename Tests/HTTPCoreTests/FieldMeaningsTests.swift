import HTTPCore
import NIOHTTP1
import Testing

@Suite("What an answer's fields mean")
struct FieldMeaningsTests {
    @Test func `is of one media type, whatever its letters and parameters`() {
        for (value, type, isPage) in [
            ("text/html", "text/html", true), ("Text/HTML ; charset=utf-8", "text/html", true),
            ("application/xhtml+xml;q=1", "application/xhtml+xml", true), ("text/htmlx", "text/htmlx", false),
            ("text/plain; text/html", "text/plain", false), ("", "", false),
            (" text/html charset=utf-8", "text/html", true),
            ("text/html,text/html", "text/html", true), ("te xt/html", "te", false),
        ] {
            let fields = HTTPHeaders([("content-type", value)])
            #expect(fields.mediaType == type && fields.isPage == isPage, "\(value)")
        }
        #expect(HTTPHeaders().mediaType == "" && !HTTPHeaders().isPage)
    }

    @Test func `names the accepted media types in their order, without refused ones`() {
        let fields = HTTPHeaders([
            ("Accept", "TEXT/HTML;level=1, text/htmlx;q=0.001,image/png; Q=0.000"), ("accept", ",*/*;q=0"),
            ("accept", "image/webp;q=1"),
        ])
        #expect(fields.acceptedTypes == ["text/html", "text/htmlx", "image/webp"])
        #expect(HTTPHeaders().acceptedTypes == [])
    }

    @Test func `says by whole names who may keep an answer, and for how long`() {
        let fields = HTTPHeaders([
            ("Cache-Control", "Private, MAX-AGE = 60,,"),
            ("cache-control", "no-store, max-age=5, s-maxage=-1, x-no-cache"),
        ])
        let directives = fields.cacheDirectives
        #expect(directives.contains("private") && directives.contains("no-store"))
        #expect(!directives.contains("no-cache") && !directives.contains("") && !directives.contains("age"))
        #expect(directives.seconds("max-age") == 60, "the first counts")
        #expect(directives.seconds("s-maxage") == nil && directives.contains("s-maxage"))
        #expect(directives.seconds("private") == nil && directives.seconds("stale-if-error") == nil)
        for wrong in ["max-age=", "max-age=+5", "max-age=1e3", "max-age=99999999999999999999", "max-age=٣"] {
            #expect(CacheDirectives([wrong]).seconds("max-age") == nil, "\(wrong)")
        }
        #expect(CacheDirectives(["private; no-store"]).contains("no-store"), "as some servers write it")
        let quoted = CacheDirectives([#"private="x, no-store", max-age="60""#])
        #expect(quoted.contains("private") && quoted.contains("no-store") && quoted.seconds("max-age") == 60)
        #expect(HTTPHeaders().cacheDirectives == CacheDirectives([]))
    }
}
