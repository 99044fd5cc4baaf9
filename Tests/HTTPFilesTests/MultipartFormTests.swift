@testable import FolderUploads
import Testing

@Suite("A form in parts")
struct MultipartFormTests {
    private static let boundary = MultipartBoundary(contentType: "multipart/form-data; boundary=XX")

    private func events(_ text: String, inPiecesOf size: Int) throws -> ([MultipartForm.Event], isOver: Bool) {
        var form = MultipartForm(try #require(Self.boundary))
        var events: [MultipartForm.Event] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            events += try form.take(bytes[start..<min(start + size, bytes.count)])
        }
        return (joined(events), form.isOver)
    }

    /// Content that stands together in one piece.
    private func joined(_ events: [MultipartForm.Event]) -> [MultipartForm.Event] {
        events.reduce(into: []) { joined, event in
            if case .content(let bytes) = event, case .content(let before)? = joined.last {
                joined[joined.count - 1] = .content(before + bytes)
            } else {
                joined.append(event)
            }
        }
    }

    private static let sample =
        "before\r\n--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n--X\r\r\n--\r\n--XX\r\n"
        + "X-Other: 1\r\ncontent-disposition:form-data; name=b; filename=\"b; \\\"c\\\".txt\"\r\n\r\n"
        + "\r\n--XX\r\nContent-Disposition: form-data; name=\"\"\r\n\r\nend\r\n--XX--\r\n--XX\r\nafter"

    @Test(arguments: [1, 2, 3, 5, 7, 64, 1_000])
    func `is read the same in pieces of any size`(size: Int) throws {
        let (events, isOver) = try events(Self.sample, inPiecesOf: size)
        let heads = [
            try PartHead(Array("Content-Disposition: form-data; name=a".utf8)[...]),
            try PartHead(Array("Content-Disposition: form-data; name=b; filename=\"b; \\\"c\\\".txt\"".utf8)[...]),
            try PartHead(Array("Content-Disposition: form-data; name=".utf8)[...]),
        ]
        #expect(
            events == [
                .part(heads[0]), .content(Array("\r\n--X\r\r\n--".utf8)), .partEnd, .part(heads[1]), .partEnd,
                .part(heads[2]), .content(Array("end".utf8)), .partEnd,
            ]
        )
        #expect(isOver)
    }

    private static let part = "\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--XX"

    @Test(
        arguments: [
            (String(repeating: "x", count: 9_000), MultipartFault.noDelimiter), ("--XXX\r\n", .badDelimiter),
            ("--XX\n\n", .badDelimiter), ("--XX\r\n\r\n", .badHead), ("--XX\r\nContent-Type: a\r\n\r\n", .badHead),
            ("--XX\r\nContent-Disposition: form-data\r\n\r\n", .badHead),
            ("--XX\r\nContent-Disposition: form-data; filename=a\r\n\r\n", .badHead),
            ("--XX\r\nContent-Disposition: attachment; name=a\r\n\r\n", .badHead),
            ("--XX\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\n", .badHead),
            ("--XX\r\nContent-Disposition: form-data; name=\"a\r\n\r\n", .badHead),
            (
                "--XX\r\nContent-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b\r\n\r\n",
                .badHead
            ),
            ("--XX\r\n" + String(repeating: "x", count: 9_000), .longHead),
            ("--XX" + String(repeating: part, count: 33), .tooManyParts),
        ] as [(String, MultipartFault)]
    )
    func `that is none is told by what is wrong`(text: String, fault: MultipartFault) throws {
        for size in [3, 100_000] {
            #expect(throws: fault, "\(text.prefix(60)), \(size)") { _ = try events(text, inPiecesOf: size) }
        }
    }

    @Test func `has quotes in the names of files, as browsers and curl write them`() throws {
        for (written, file) in [
            ("x%22y.txt", "x\"y.txt"), ("x\\\"y.txt", "x\"y.txt"), ("100%.txt", "100%.txt"), ("a%2Fb%0A", "a%2Fb%0A"),
        ] {
            let head = try PartHead(Array("Content-Disposition: form-data; name=a; filename=\"\(written)\"".utf8)[...])
            #expect(head.file == file)
        }
    }

    @Test func `has room for a number in every file's name`() throws {
        for (text, name) in [
            ("Photo.jpg", "Photo (2).jpg"), ("Photo", "Photo (2)"), ("Photo.", "Photo. (2)"),
            (String(repeating: "n", count: 251) + ".txt", String(repeating: "n", count: 247) + " (2).txt"),
            (String(repeating: "n", count: 255), String(repeating: "n", count: 251) + " (2)"),
            ("n." + String(repeating: "x", count: 253), "n." + String(repeating: "x", count: 249) + " (2)"),
            (String(repeating: "\u{E9}", count: 125) + ".jpeg", String(repeating: "\u{E9}", count: 123) + " (2).jpeg"),
        ] {
            #expect(try ItemName(text).numbered(2).text == name)
        }
        let accents = "e" + String(repeating: "\u{301}", count: 127)
        #expect(throws: ItemFault.longName) { try ItemName(accents).numbered(2) }
    }

    @Test func `says what it is in UTF-8`() {
        let head = Array("Content-Disposition: form-data; name=\"".utf8) + [0xFF, UInt8(ascii: "\"")]
        #expect(throws: MultipartFault.notUTF8) { _ = try PartHead(head[...]) }
    }

    @Test(
        arguments: [
            ("multipart/form-data; boundary=abc", "abc"), ("multipart/form-data;charset=utf-8;BOUNDARY=\"a b\"", "a b"),
            ("multipart/form-data", nil), ("multipart/form-data; boundary=", nil),
            ("multipart/form-data; boundary=\"a", nil), ("multipart/form-data; boundary=\"a \"", nil),
            ("multipart/form-data; boundary=a; boundary=b", nil),
            ("multipart/form-data; boundary=" + String(repeating: "x", count: 71), nil),
        ] as [(String, String?)]
    )
    func `needs a boundary of 1 to 70 characters, once`(type: String, boundary: String?) {
        #expect(MultipartBoundary(contentType: type)?.text == boundary)
    }

    @Test(
        arguments: [
            (UploaderError.multipart(.noBoundary), "the body's Content-Type has no boundary"),
            (.multipart(.noDelimiter), "the form does not begin with its boundary"),
            (.multipart(.longHead), "the fields of a part are too long"),
            (.multipart(.badHead), "a part of the form has no valid Content-Disposition"),
            (.multipart(.tooManyParts), "the form has too many parts"),
            (.multipart(.notUTF8), "the form is not UTF-8"),
        ]
    )
    func `that is none is refused in words`(error: UploaderError, words: String) {
        #expect(UploadWorld.Answer(error.answer) == .refused(400, words))
    }
}
