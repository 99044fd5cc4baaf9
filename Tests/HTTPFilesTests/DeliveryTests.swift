import NIOHTTP1
import Testing

@testable import HTTPFiles

/// A request about ten bytes tagged `v1`, with these fields.
private func delivery(
    _ fields: (String, String)...,
    method: HTTPMethod = .GET,
    entityTag: String? = "v1",
    modified: Int? = nil,
    size: Int = 10
) -> Delivery {
    Delivery(
        method: method,
        headers: HTTPHeaders(fields),
        entityTag: entityTag,
        modified: modified,
        size: size,
        now: 1_800_000_000
    )
}

@Suite("What a condition lets through")
struct DeliveryTests {
    @Test(arguments: [
        (value: #""v1""#, delivery: Delivery.notModified),
        (value: #"W/"v1""#, delivery: .notModified),
        (value: #""v0", "v1""#, delivery: .notModified),
        (value: #" "v0" ,, W/"v1" "#, delivery: .notModified),
        (value: "*", delivery: .notModified),
        (value: #""v0""#, delivery: .whole),
        (value: #""a,b""#, delivery: .whole),
        (value: "v1", delivery: .whole),
        (value: #"w/"v1""#, delivery: .whole),
        (value: "", delivery: .whole),
    ])
    func `If-None-Match compares weakly`(value: String, expected: Delivery) {
        #expect(delivery(("If-None-Match", value)) == expected)
        #expect(delivery(("If-None-Match", value), method: .HEAD) == expected)
    }

    @Test(arguments: [
        (value: #""v1""#, delivery: Delivery.whole),
        (value: "*", delivery: .whole),
        (value: #""v0", "v1""#, delivery: .whole),
        (value: #"W/"v1""#, delivery: .preconditionFailed),
        (value: #""v0""#, delivery: .preconditionFailed),
        (value: "v1", delivery: .preconditionFailed),
    ])
    func `If-Match compares strongly`(value: String, expected: Delivery) {
        #expect(delivery(("If-Match", value)) == expected)
    }

    @Test(arguments: [
        (value: "bytes=2-4", delivery: Delivery.part(2..<5)),
        (value: "bytes=7-", delivery: .part(7..<10)),
        (value: "bytes=-3", delivery: .part(7..<10)),
        (value: "bytes=0-0", delivery: .part(0..<1)),
        (value: "bytes=0-99", delivery: .part(0..<10)),
        (value: "bytes=-99", delivery: .part(0..<10)),
        (value: "bytes=5-99999999999999999999", delivery: .part(5..<10)),
        (value: "BYTES= 2-4 ,", delivery: .part(2..<5)),
        (value: "bytes=10-", delivery: .unsatisfiable),
        (value: "bytes=99999999999999999999-", delivery: .unsatisfiable),
        (value: "bytes=-0", delivery: .unsatisfiable),
        (value: "bytes=0-1,4-5", delivery: .whole),
        (value: "bytes=4-2", delivery: .whole),
        (value: "bytes=-", delivery: .whole),
        (value: "bytes=a-b", delivery: .whole),
        (value: "bytes=+1-2", delivery: .whole),
        (value: "bytes=1-2-3", delivery: .whole),
        (value: "bytes 1-2", delivery: .whole),
        (value: "items=1-2", delivery: .whole),
        (value: "", delivery: .whole),
    ])
    func `Range asks for one part, or is ignored`(value: String, expected: Delivery) {
        #expect(delivery(("Range", value)) == expected)
    }

    @Test(arguments: [
        (value: "bytes=0-", delivery: Delivery.unsatisfiable), (value: "bytes=-1", delivery: .whole),
    ])
    func `an empty file has no first byte, and all of it is its end`(value: String, expected: Delivery) {
        #expect(delivery(("Range", value), size: 0) == expected)
    }

    @Test func `Range is for GET, once`() {
        #expect(delivery(("Range", "bytes=2-4"), method: .HEAD) == .whole)
        #expect(delivery(("Range", "bytes=2-4"), method: .POST) == .whole)
        #expect(delivery(("Range", "bytes=2-4"), ("Range", "bytes=5-6")) == .whole)
    }

    @Test(arguments: [
        (value: #""v1""#, delivery: Delivery.part(2..<5)),
        (value: #""v0""#, delivery: .whole),
        (value: #"W/"v1""#, delivery: .whole),
        (value: "Sun, 06 Nov 1994 08:49:37 GMT", delivery: .whole),
        (value: "*", delivery: .whole),
    ])
    func `If-Range lets a part through for the same strong tag only`(value: String, expected: Delivery) {
        #expect(delivery(("Range", "bytes=2-4"), ("If-Range", value)) == expected)
    }

    @Test func `If-Range without Range means nothing`() {
        #expect(delivery(("If-Range", #""v0""#)) == .whole)
    }

    // MARK: Dates, where a Last-Modified is sent

    /// The date of RFC 9110's examples.
    private static let modified = 784_111_777

    @Test(arguments: [
        ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT", Delivery.notModified),
        ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:38 GMT", .notModified),
        ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT", .whole),
        ("If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT", .notModified),
        ("If-Modified-Since", "Sun Nov  6 08:49:37 1994", .notModified), ("If-Modified-Since", "yesterday", .whole),
        ("If-Modified-Since", "", .whole), ("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT", .whole),
        ("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:36 GMT", .preconditionFailed),
        ("If-Unmodified-Since", "yesterday", .whole),
    ])
    func `a date is compared with Last-Modified, and ignored without one`(
        name: String,
        value: String,
        expected: Delivery
    ) {
        #expect(delivery((name, value), entityTag: nil, modified: Self.modified) == expected)
        #expect(delivery((name, value)) == .whole)
        #expect(delivery((name, value), (name, value), entityTag: nil, modified: Self.modified) == .whole)
    }

    @Test func `a tag beside a date decides alone`() {
        let (old, new) = ("Sun, 06 Nov 1994 08:49:36 GMT", "Sun, 06 Nov 1994 08:49:38 GMT")
        func with(_ tag: (String, String), _ date: (String, String)) -> Delivery {
            delivery(tag, date, modified: Self.modified)
        }
        #expect(with(("If-None-Match", #""v0""#), ("If-Modified-Since", new)) == .whole)
        #expect(with(("If-None-Match", #""v1""#), ("If-Modified-Since", old)) == .notModified)
        #expect(with(("If-Match", #""v1""#), ("If-Unmodified-Since", old)) == .whole)
        #expect(with(("If-Match", #""v0""#), ("If-Unmodified-Since", new)) == .preconditionFailed)
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", Delivery.part(2..<5)), ("Sun, 06 Nov 1994 08:49:36 GMT", .whole),
        ("Sun, 06 Nov 1994 08:49:38 GMT", .whole), ("no date", .whole),
    ])
    func `If-Range lets a part through for exactly the date that was sent`(value: String, expected: Delivery) {
        let range = ("Range", "bytes=2-4")
        #expect(delivery(range, ("If-Range", value), entityTag: nil, modified: Self.modified) == expected)
    }

    @Test func `a date is for reading, and its order is before Range`() {
        let fields = [("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Range", "bytes=2-4")]
        #expect(delivery(fields[0], fields[1], entityTag: nil, modified: Self.modified) == .notModified)
        #expect(delivery(fields[0], method: .POST, entityTag: nil, modified: Self.modified) == .whole)
    }

    @Test func `the order is If-Match, If-None-Match, Range`() {
        let range = ("Range", "bytes=2-4")
        let beyond = ("Range", "bytes=99-")
        #expect(delivery(("If-Match", #""v0""#), ("If-None-Match", #""v1""#), range) == .preconditionFailed)
        #expect(delivery(("If-Match", #""v1""#), ("If-None-Match", #""v1""#), range) == .notModified)
        #expect(delivery(("If-None-Match", #""v1""#), beyond) == .notModified)
        #expect(delivery(("If-None-Match", #""v0""#), range) == .part(2..<5))
        #expect(delivery(("If-Range", #""v0""#), beyond) == .whole)
    }

    @Test func `several fields of one name are one list`() {
        #expect(delivery(("If-None-Match", #""v0""#), ("If-None-Match", #""v1""#)) == .notModified)
    }

    @Test func `a matching If-None-Match stops every method but GET and HEAD`() {
        #expect(delivery(("If-None-Match", "*"), method: .PUT) == .preconditionFailed)
    }

    @Test func `without a tag only the star matches`() {
        #expect(delivery(("If-None-Match", "*"), entityTag: nil) == .notModified)
        #expect(delivery(("If-None-Match", #""v1""#), entityTag: nil) == .whole)
        #expect(delivery(("If-Match", "*"), entityTag: nil) == .whole)
        #expect(delivery(("If-Match", #""v1""#), entityTag: nil) == .preconditionFailed)
        #expect(delivery(("Range", "bytes=2-4"), ("If-Range", #""v1""#), entityTag: nil) == .whole)
    }

    @Test func `dates are ignored, because no Last-Modified is sent`() {
        let date = "Sun, 06 Nov 2044 08:49:37 GMT"
        #expect(delivery(("If-Modified-Since", date)) == .whole)
        #expect(delivery(("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT")) == .whole)
    }
}
