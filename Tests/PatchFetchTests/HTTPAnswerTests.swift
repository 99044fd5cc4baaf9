import NIOHTTP1
import PatchCompression
import PatchFormat
import PatchTrust
import Testing

@testable import PatchFetch

@Suite("The head of an answer")
struct HTTPAnswerTests {
    private static let object = Fingerprint(of: Array("0123456789".utf8))
    private let plain = FetchRequest("objects/x", limit: 10, deadline: .seconds(1), expected: ExpectedFile(object))
    private let rest = FetchRequest(
        "objects/x",
        limit: 10,
        deadline: .seconds(1),
        expected: ExpectedFile(object),
        resume: .init(offset: 4, validator: "\"v1\"")
    )

    private func error(_ status: Int, _ headers: HTTPHeaders, to request: FetchRequest? = nil) -> FetchError? {
        do throws(FetchError) {
            _ = try HTTPAnswer(status, headers, to: request ?? plain)
            return nil
        } catch { return error }
    }

    @Test func `of 200 announces the whole file, also where a part was asked for`() throws {
        let whole = try HTTPAnswer(200, ["content-length": "10", "etag": "\"v2\""], to: rest)
        #expect(whole == .body(FetchedHead(offset: 0, validator: "\"v2\""), length: 10))
        #expect(try HTTPAnswer(200, [:], to: plain) == .body(FetchedHead(), length: nil))
    }

    @Test func `of 206 announces exactly the rest`() throws {
        let head = try HTTPAnswer(206, ["content-range": "bytes 4-9/10", "etag": "\"v1\""], to: rest)
        #expect(head == .body(FetchedHead(offset: 4, validator: "\"v1\""), length: 6))
    }

    @Test(arguments: [
        "", "bytes 3-9/10", "bytes 4-8/10", "bytes 4-9/11", "bytes 4-10/11", "bytes 4-9/*", "bytes */10",
        "bytes 9-4/10",
        "bytes=4-9/10", "bytes 4-9/10, 4-9/10", "items 4-9/10", "bytes 4-99999999999999999999/10", "bytes -4-9/10",
    ])
    func `of 206 is refused for any other part`(field: String) {
        #expect(
            error(206, field.isEmpty ? [:] : ["content-range": field], to: rest)
                == .wrongRange("objects/x", field: field)
        )
    }

    @Test func `of 206 announces exactly the part where an end was named`() throws {
        var part = FetchRequest("packs/x", limit: 10, deadline: .seconds(1))
        part.resume = .init(offset: 4, validator: nil, end: 8)
        #expect(
            try HTTPAnswer(206, ["content-range": "bytes 4-7/10"], to: part) == .body(FetchedHead(offset: 4), length: 4)
        )
        for field in ["bytes 4-9/10", "bytes 4-6/10", "bytes 5-7/10", "bytes 4-7/11"] {
            #expect(error(206, ["content-range": field], to: part) == .wrongRange("packs/x", field: field))
        }
        // The file may end before.
        part.resume = .init(offset: 4, validator: nil, end: 12)
        #expect(
            try HTTPAnswer(206, ["content-range": "bytes 4-9/10"], to: part) == .body(FetchedHead(offset: 4), length: 6)
        )
    }

    /// The rest of a compressed form.
    private func rest(of coding: CompressionFormat) -> FetchRequest {
        FetchRequest(
            "objects/x",
            limit: 10,
            deadline: .seconds(1),
            expected: ExpectedFile(Self.object),
            resume: .init(offset: 4, validator: "\"v1.zst\"", coding: coding)
        )
    }

    @Test(arguments: CompressionFormat.allCases)
    func `of 200 says which compressed form it is, where one was asked for`(coding: CompressionFormat) throws {
        let headers: HTTPHeaders = [
            "content-length": "8", "content-encoding": coding.rawValue.uppercased(), "etag": "\"v1.zst\"",
        ]
        let head = FetchedHead(validator: "\"v1.zst\"", coding: coding)
        #expect(try HTTPAnswer(200, headers, to: plain) == .body(head, length: 8))
        // What it does not go on with has a name of its own.
        #expect(try HTTPAnswer(200, headers, to: rest(of: .zstandard)) == .body(head, length: 8))
        let refused = FetchError.encoded("objects/x", as: coding.rawValue.uppercased())
        #expect(error(200, headers, to: plain.plain) == refused)
        #expect(error(200, headers, to: rest) == refused)
        var question = FetchRequest("api/x", limit: 10, deadline: .seconds(1))
        question.question = [1]
        let timestamp = FetchRequest(URLLayout.timestamp, limit: 10, deadline: .seconds(1))
        for request in [question, timestamp] { #expect(error(200, headers, to: request)?.isLie == true) }
    }

    @Test func `of a compressed form that is no smaller than the file may be is refused before the body`() {
        let headers: HTTPHeaders = ["content-length": "11", "content-encoding": "gzip"]
        #expect(error(200, headers) == .badForm("objects/x", .notSmaller(.gzip, limit: 10)))
        #expect(
            error(200, ["content-length": "11", "content-type": "text/html", "content-encoding": "zstd"])
                == .badForm("objects/x", .notSmaller(.zstandard, limit: 10))
        )
    }

    @Test func `of 206 is the rest of the same form, whose size nobody signed`() throws {
        let head = FetchedHead(offset: 4, validator: "\"v1.zst\"", coding: .zstandard)
        for coding: HTTPHeaders in [["content-encoding": "zstd"], [:]] {
            for (range, length) in [("bytes 4-9/10", 6), ("bytes 4-7/8", 4)] {
                var headers: HTTPHeaders = ["content-range": range, "etag": "\"v1.zst\""]
                headers.add(contentsOf: coding)
                #expect(try HTTPAnswer(206, headers, to: rest(of: .zstandard)) == .body(head, length: length))
            }
        }
        for range in ["bytes 4-10/11", "bytes 3-7/8", "bytes 4-6/8"] {
            #expect(
                error(206, ["content-range": range, "content-encoding": "zstd"], to: rest(of: .zstandard))
                    == .wrongRange("objects/x", field: range)
            )
        }
        let other: HTTPHeaders = ["content-range": "bytes 4-7/8", "content-encoding": "gzip"]
        #expect(error(206, other, to: rest(of: .zstandard)) == .wrongRange("objects/x", field: "bytes 4-7/8"))
        #expect(error(206, other, to: rest) == .encoded("objects/x", as: "gzip"))
        #expect(try HTTPAnswer(416, [:], to: rest(of: .gzip)) == .noSuchRange)
    }

    @Test func `names a compressed form by a strong tag of its own, and by no date`() throws {
        let older: HTTPHeaders = [
            "last-modified": "Thu, 19 Nov 2026 08:00:00 GMT", "date": "Fri, 20 Nov 2026 08:00:00 GMT",
        ]
        let table: [(HTTPHeaders, String?)] = [
            (["etag": "\"v1.zst\""], "\"v1.zst\""), (["etag": "W/\"v1\""], nil), (older, nil), ([:], nil),
            // Of the file itself.
            (["etag": "\"\(Self.object.sha256)\""], nil),
            // Of the form's own bytes: no contradiction.
            (["etag": "\"\(Fingerprint(of: [1]).sha256)\""], "\"\(Fingerprint(of: [1]).sha256)\""),
        ]
        for (headers, validator) in table {
            var headers = headers
            headers.add(name: "content-encoding", value: "gzip")
            let head = FetchedHead(validator: validator, coding: .gzip)
            #expect(try HTTPAnswer(200, headers, to: plain) == .body(head, length: nil), "\(headers)")
        }
    }

    @Test func `of 206 is refused where no part was asked for`() {
        #expect(error(206, ["content-range": "bytes 0-9/10"]) == .status("objects/x", code: 206))
    }

    @Test func `of 416 means that all of it must be asked for`() throws {
        #expect(try HTTPAnswer(416, [:], to: rest) == .noSuchRange)
        #expect(error(416, [:]) == .status("objects/x", code: 416))
    }

    @Test func `of 304 counts only where it was asked for`() throws {
        #expect(try HTTPAnswer(304, [:], to: plain, unless: "\"v1\"") == .notModified)
        #expect(error(304, [:]) == .status("objects/x", code: 304))
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `that redirects is refused by name`(status: Int) {
        let to = "http://elsewhere.test/"
        #expect(error(status, ["location": to]) == .redirected("objects/x", to: to))
    }

    @Test func `that is busy says when to ask again`() {
        #expect(error(503, ["retry-after": "7"]) == .busy("objects/x", code: 503, retryAfter: 7))
        #expect(error(429, ["retry-after": "0"]) == .busy("objects/x", code: 429, retryAfter: 0))
        for field in ["9999999999", "9223372036854775807", "9223372036854775808"] {
            let longest = FetchError.busy("objects/x", code: 503, retryAfter: RetryAfter(.max))
            #expect(error(503, ["retry-after": field]) == longest)
        }
        for field in ["-1", "+1", "", "1.5", "soon", "Fri, 20 Nov 2026 08:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            #expect(error(503, ["retry-after": field]) == .status("objects/x", code: 503))
        }
    }

    @Test func `that announces more than is allowed is refused before the body`() {
        #expect(error(200, ["content-length": "11"]) == .tooLarge("objects/x", limit: 10))
    }

    @Test(arguments: ["gzip", "br", "GZIP", "identity, gzip"])
    func `that packs without being asked is refused before the body`(coding: String) {
        #expect(error(200, ["content-encoding": coding], to: plain.plain) == .encoded("objects/x", as: coding))
    }

    @Test func `that packs in another way than asked for is refused before the body`() {
        for coding in ["br", "deflate", "x-gzip", "zstd, gzip", "gzip, gzip"] {
            #expect(error(200, ["content-encoding": coding]) == .encoded("objects/x", as: coding))
        }
        let twice = HTTPHeaders([("content-encoding", "gzip"), ("content-encoding", "zstd")])
        #expect(error(200, twice) == .encoded("objects/x", as: "gzip, zstd"))
    }

    @Test func `with a tag that names another digest is refused before the body`() {
        let other = Fingerprint(of: [1])
        for tag in ["\"\(other.sha1)\"", "W/\"\(other.sha1)\"", "\"\(other.sha256)\"", "\(other.sha1)"] {
            let refusal = FetchError.contradictingTag("objects/x", tag: tag)
            #expect(error(200, ["etag": tag]) == refusal)
            #expect(refusal.description.hasPrefix("Hash mismatch for asset: /objects/x"))
        }
        for tag in ["\"\(Self.object.sha1)\"", "W/\"\(Self.object.sha256)\"", "\"5f3-10\"", "\"\(other.md5)\""] {
            #expect(error(200, ["etag": tag]) == nil)
        }
        // Who does not know what it should be takes any.
        let document = FetchRequest("metadata/timestamp.json", limit: 10, deadline: .seconds(1))
        #expect(error(200, ["etag": "\"\(other.sha1)\""], to: document) == nil)
    }

    @Test func `of a web page in place of an object is refused before the body`() throws {
        let page: HTTPHeaders = ["content-type": "text/html; charset=utf-8", "content-length": "900"]
        #expect(error(200, page) == .webPage("objects/x"))
        // The object may be a page itself.
        let own = try HTTPAnswer(200, ["content-type": "text/html", "content-length": "10"], to: plain)
        #expect(own == .body(FetchedHead(isWebPage: true), length: 10))
    }

    @Test func `names the file by a strong tag, else by a date that is older than the answer`() {
        let date = "Fri, 20 Nov 2026 08:00:00 GMT"
        let older = "Thu, 19 Nov 2026 08:00:00 GMT"
        let table: [(HTTPHeaders, String?)] = [
            (["etag": "\"v1\"", "last-modified": older, "date": date], "\"v1\""),
            (["etag": "W/\"v1\"", "last-modified": older, "date": date], nil),
            (["last-modified": older, "date": date], older),
            (["last-modified": date, "date": date], nil),
            (["last-modified": older], nil),
            (["etag": "\"\(String(repeating: "x", count: 2_000))\""], nil),
            ([:], nil),
        ]
        for (headers, validator) in table { #expect(headers.strongValidator == validator, "\(headers)") }
    }
}
