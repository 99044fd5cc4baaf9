import Testing

@testable import HTTPCore

@Suite("The order of an answer's pieces")
struct AnswerOrderTests {
    private func asked() -> AnswerOrder {
        var order = AnswerOrder()
        order.requestSent()
        return order
    }

    @Test(arguments: [0, 1, 42, 99])
    func `has no status below 100, asked for or not`(status: Int) throws {
        var order = asked()
        #expect(throws: AnswerFault.status(status)) { try order.takes(.head(status: status)) }
        var idle = AnswerOrder()
        #expect(throws: AnswerFault.status(status)) { try idle.takes(.head(status: status)) }
    }

    @Test(arguments: [101, 200, 204, 304, 404, 600, 999])
    func `is head, body, end`(status: Int) throws {
        var order = asked()
        try order.takes(.head(status: status))
        try order.takes(.body)
        try order.takes(.body)
        try order.takes(.end)
        #expect(order == AnswerOrder())
    }

    @Test func `begins with a few interim answers, and not with one after the other`() throws {
        var order = asked()
        for _ in 0..<AnswerOrder.interimLimit { try order.takes(.head(status: 103)) }
        var done = order
        try done.takes(.head(status: 200))
        #expect(throws: AnswerFault.interimAnswers(limit: 32)) { try order.takes(.head(status: 100)) }
    }

    @Test func `is in no other order`() throws {
        var idle = AnswerOrder()
        for piece in [AnswerOrder.Piece.head(status: 200), .head(status: 100), .body, .end] {
            #expect(throws: AnswerFault.outOfOrder) { try idle.takes(piece) }
        }
        var waiting = asked()
        for piece in [AnswerOrder.Piece.body, .end] {
            #expect(throws: AnswerFault.outOfOrder) { try waiting.takes(piece) }
        }
        var answering = asked()
        try answering.takes(.head(status: 200))
        for piece in [AnswerOrder.Piece.head(status: 200), .head(status: 100)] {
            #expect(throws: AnswerFault.outOfOrder) { try answering.takes(piece) }
        }
    }

    @Test func `is told about in words`() {
        #expect(AnswerFault.status(42).description == "has the invalid status 042")
        #expect(AnswerFault.status(0).description == "has the invalid status 000")
        #expect(AnswerFault.interimAnswers(limit: 32).description == "follows more than 32 interim answers")
    }
}
