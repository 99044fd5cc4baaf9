import Foundation
import HTTPCore
import NIOCore
import NIOHTTP1
import Testing

@testable import HTTPFiles

@Suite("What a server remembers")
struct RememberedAnswersTests {
    private func answer(bytes: Int, status: HTTPResponseStatus = .ok) throws -> PreparedAnswer {
        let head = try RequestHead(parsing: Array("GET / HTTP/1.1\r\nHost: a\r\n".utf8)[..<23], maxTargetBytes: 10)
        let body = ByteBuffer(repeating: 0, count: bytes)
        return PreparedAnswer(
            to: head,
            Response(status: status, headers: [:], body: .bytes(Array(repeating: 0, count: bytes)[...])),
            body: body,
            part: nil,
            origin: nil,
            isLasting: true,
            second: 0
        )
    }

    private func isKnown(_ number: Int, to answers: inout PreparedAnswers, edition: Int = 1) -> Bool {
        answers.answer(to: head(number), edition: edition) != nil
    }

    private func head(_ number: Int) -> ByteBuffer { ByteBuffer(string: "GET /\(number)") }

    @Test func `is bounded in bytes, however many answers there are`() throws {
        var answers = PreparedAnswers(limit: 200_000)
        _ = answers.answer(to: head(0), edition: 1)
        for number in 0..<1000 {
            answers.remember(try answer(bytes: 1000), to: head(number), edition: 1)
            #expect(answers.count <= 200)
        }
        #expect(answers.count > 20)
        let found1 = isKnown(999, to: &answers)
        #expect(found1)
        let found2 = isKnown(0, to: &answers)
        #expect(!found2)
    }

    @Test func `is bounded in bytes too when heads have as many fields as they can hold`() throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "a:\r\n", count: 1000)
        let parsed = try RequestHead(parsing: Array(text.utf8.dropLast(2))[...], maxTargetBytes: 10)
        let answer = PreparedAnswer(
            to: parsed,
            Response(status: .ok, headers: [:], body: .none),
            body: nil,
            part: nil,
            origin: nil,
            isLasting: true,
            second: 0
        )
        #expect(answer.cost >= 1000 * MemoryLayout<(String, String)>.size)
    }

    @Test func `stays when it is asked for again and again`() throws {
        var answers = PreparedAnswers(limit: 200_000)
        _ = answers.answer(to: head(0), edition: 1)
        answers.remember(try answer(bytes: 1000), to: head(0), edition: 1)
        for number in 1..<1000 {
            answers.remember(try answer(bytes: 1000), to: head(number), edition: 1)
            let found3 = isKnown(0, to: &answers)
            #expect(found3)
        }
    }

    @Test func `is nothing that alone would be more than half of all`() throws {
        var answers = PreparedAnswers(limit: 10_000)
        _ = answers.answer(to: head(0), edition: 1)
        answers.remember(try answer(bytes: 6000), to: head(0), edition: 1)
        answers.remember(try answer(bytes: 0), to: ByteBuffer(repeating: 0x61, count: 4097), edition: 1)
        #expect(answers.count == 0)
    }

    @Test func `is of one edition`() throws {
        var answers = PreparedAnswers(limit: 200_000)
        _ = answers.answer(to: head(0), edition: 1)
        answers.remember(try answer(bytes: 0), to: head(0), edition: 0)
        #expect(answers.count == 0)
        answers.remember(try answer(bytes: 0), to: head(0), edition: 1)
        let found4 = isKnown(0, to: &answers)
        #expect(found4)
        let found5 = isKnown(0, to: &answers, edition: 2)
        #expect(!found5)
        let found6 = isKnown(0, to: &answers)
        #expect(!found6)
    }

    @Test func `has the date of the second in which it is sent`() throws {
        let answer = try answer(bytes: 3)
        let first = answer.bytes(at: 0)
        let second = answer.bytes(at: 86_400)
        #expect(String(buffer: first).contains("\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"))
        #expect(String(buffer: second).contains("\r\nDate: Fri, 02 Jan 1970 00:00:00 GMT\r\n"))
        #expect(first.readableBytes == second.readableBytes)
        #expect(String(buffer: answer.bytes(at: 0)) == String(buffer: first))
    }

    @Test func `is not a source's own date field, which cannot be moved on`() throws {
        let response = Response(status: .ok, headers: ["X": "\r\nDate: x", "Date": "never"], body: .none)
        let head = String(buffer: response.head(keepAlive: true, date: HTTPDate.text(at: 0)))
        #expect(head.components(separatedBy: "\r\nDate: ").count == 2)
    }
}
