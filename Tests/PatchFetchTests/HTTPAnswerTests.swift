import HTTPCore
import NIOHTTP1
import PatchCompression
import PatchFormat
import PatchCrypto
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
    func `of 206 means that all of it must be asked for where it is any other part`(field: String) throws {
        #expect(try HTTPAnswer(206, field.isEmpty ? [:] : ["content-range": field], to: rest) == .noSuchRange)
    }

    @Test func `of 206 announces exactly the part where an end was named`() throws {
        var part = FetchRequest("packs/x", limit: 10, deadline: .seconds(1))
        part.resume = .init(offset: 4, validator: nil, end: 8)
        #expect(
            try HTTPAnswer(206, ["content-range": "bytes 4-7/10"], to: part) == .body(FetchedHead(offset: 4), length: 4)
        )
        for field in ["bytes 4-9/10", "bytes 4-6/10", "bytes 5-7/10", "bytes 4-7/11"] {
            #expect(try HTTPAnswer(206, ["content-range": field], to: part) == .noSuchRange)
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
        let undone = HTTPAnswer.body(FetchedHead(), length: 8, undoing: [coding])
        #expect(try HTTPAnswer(200, headers, to: plain.plain) == undone)
        #expect(try HTTPAnswer(200, headers, to: rest) == undone)
        var question = FetchRequest("api/x", limit: 10, deadline: .seconds(1))
        question.question = [1]
        let timestamp = FetchRequest(URLLayout.timestamp, limit: 10, deadline: .seconds(1))
        for request in [question, timestamp] { #expect(try HTTPAnswer(200, headers, to: request) == undone) }
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
            let headers: HTTPHeaders = ["content-range": range, "content-encoding": "zstd"]
            #expect(try HTTPAnswer(206, headers, to: rest(of: .zstandard)) == .noSuchRange)
        }
        let other: HTTPHeaders = ["content-range": "bytes 4-7/8", "content-encoding": "gzip"]
        #expect(try HTTPAnswer(206, other, to: rest(of: .zstandard)) == .noSuchRange)
        #expect(try HTTPAnswer(206, other, to: rest) == .noSuchRange)
        // A part of the file itself, whatever is announced.
        let own: HTTPHeaders = ["content-range": "bytes 4-9/10", "content-encoding": "gzip", "etag": "\"v1\""]
        #expect(
            try HTTPAnswer(206, own, to: rest) == .body(FetchedHead(offset: 4, validator: "\"v1\""), length: 6)
        )
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

    @Test func `of 206 counts without a request for a part only as the whole file`() throws {
        #expect(
            try HTTPAnswer(206, ["content-range": "bytes 0-9/10"], to: plain) == .body(FetchedHead(), length: nil)
        )
        for field in ["bytes 1-9/10", "bytes 0-8/10", "bytes 0-9/*", ""] {
            #expect(error(206, ["content-range": field]) == .status("objects/x", code: 206))
        }
    }

    @Test func `of 203 is the file, and of other successes nothing`() throws {
        #expect(try HTTPAnswer(203, ["content-length": "10"], to: plain) == .body(FetchedHead(), length: 10))
        for status in [201, 202, 204, 205, 226] { #expect(error(status, [:]) == .status("objects/x", code: status)) }
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
    func `that redirects names the target`(status: Int) throws {
        #expect(try HTTPAnswer(status, ["location": "/y"], to: plain) == .movedTo("/y"))
        #expect(error(status, [:]) == .redirected("objects/x", to: "nowhere"))
        var question = FetchRequest("api/x", limit: 10, deadline: .seconds(1))
        question.question = [1]
        #expect(error(status, ["location": "/y"], to: question) == .redirected("api/x", to: "/y"))
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

    @Test func `that announces more than is allowed is refused before the body, unless the size is signed`() throws {
        let document = FetchRequest("metadata/1.root.json", limit: 10, deadline: .seconds(1))
        #expect(error(200, ["content-length": "11"], to: document) == .tooLarge("metadata/1.root.json", limit: 10))
        #expect(try HTTPAnswer(200, ["content-length": "11"], to: plain) == .body(FetchedHead(), length: 11))
    }

    @Test func `that names no coding announces none`() throws {
        let names = [
            "", " ", "identity", "aws-chunked", "utf-8", "UTF8", "none", "binary", "application/json", ",,", "a b",
            "\"gzip\"",
        ]
        for name in names {
            #expect(AnnouncedCodings(["content-encoding": name]).forms == [], "\(name)")
            #expect(try HTTPAnswer(200, ["content-encoding": name], to: plain) == .body(FetchedHead(), length: nil))
        }
    }

    @Test func `may announce a coding beside invented ones, by an old name, and in any case`() throws {
        for name in ["gzip", "GZip", "x-gzip", "aws-chunked,gzip", "gzip, identity", "utf-8 ,\tgzip,"] {
            let answer = try HTTPAnswer(200, ["content-encoding": name], to: plain)
            #expect(answer == .body(FetchedHead(coding: .gzip), length: nil), "\(name)")
        }
        let twice = HTTPHeaders([("content-encoding", "gzip"), ("content-encoding", "zstd")])
        let undone = HTTPAnswer.body(FetchedHead(), length: nil, undoing: [.gzip, .zstandard])
        #expect(try HTTPAnswer(200, twice, to: plain) == undone)
    }

    @Test func `with a coding that no device decodes is refused only where the length says so`() throws {
        for name in ["br", "gzip, br", "deflate", "dcz", "gzip, gzip, gzip"] {
            var head = FetchedHead()
            head.unread = name
            #expect(try HTTPAnswer(200, ["content-encoding": name], to: plain) == .body(head, length: nil))
            let long: HTTPHeaders = ["content-encoding": name, "content-length": "11"]
            #expect(error(200, long) == .encoded("objects/x", as: name))
        }
    }

    @Test func `with a tag that names another digest counts: the bytes decide`() throws {
        let other = Fingerprint(of: [1])
        for tag in ["\"\(other.sha1)\"", "W/\"\(other.sha1)\"", "\"\(other.sha256)\"", "\(other.sha1)", "", "\""] {
            #expect(error(200, ["etag": tag]) == nil)
        }
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
