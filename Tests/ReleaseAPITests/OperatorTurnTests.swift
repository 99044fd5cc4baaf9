import HTTPFiles
import NIOHTTP1
import Testing

@testable import ReleaseAPI

@Suite("Whose turn it is on an operator's connection")
struct ConnectionTurnTests {
    private static func turn(_ fields: (String, String)...) throws -> OperatorTurn {
        var turn = OperatorTurn()
        turn.came(bytes: 10)
        let headers = HTTPHeaders([("Host", "a")] + fields)
        turn.came(try CheckedHead(.POST, "/x", minorVersion: 1, headers, maxTargetBytes: 100))
        return turn
    }

    @Test func `is the client's until its request is whole, and again once that is answered`() throws {
        var turn = try Self.turn(("Content-Length", "5"))
        #expect(turn.awaitsClient && !turn.holdsBack)
        turn.came(ofBody: 5)
        #expect(!turn.cameToItsEnd() && turn.holdsBack && !turn.awaitsClient)
        #expect(turn.begins(stopping: false) == .answer(keeps: true))
        #expect(turn.ends(goesOn: true) == .request && turn.phase == .idle && turn.awaitsClient)
    }

    @Test(arguments: [(64 * 1024, true), (64 * 1024 + 1, false)])
    func `is kept over a body that nobody read when little of it is left`(_ left: Int, _ keeps: Bool) throws {
        var turn = try Self.turn(("Content-Length", "\(left + 7)"))
        turn.came(ofBody: 7)
        #expect(turn.begins(stopping: false) == .answer(keeps: keeps))
        #expect(turn.ends(goesOn: true) == (keeps ? .rest : .linger))
        if keeps { #expect(turn.cameToItsEnd() && turn.phase == .idle) }
    }

    @Test func `ends with an answer that nobody asked the body for, whose client waits to send it`() throws {
        var turn = try Self.turn(("Content-Length", "5"), ("Expect", "100-continue"))
        #expect(turn.begins(stopping: false) == .answer(keeps: false))
        var asked = try Self.turn(("Content-Length", "5"), ("Expect", "100-continue"))
        #expect(asked.asksForBody() && !asked.asksForBody())
        #expect(asked.begins(stopping: false) == .answer(keeps: true))
    }

    @Test func `ends when the server stops, when the client wants it, and when nobody knows how much is left`() throws {
        for (fields, stopping) in [
            ([("Content-Length", "1")], true), ([("Connection", "close")], false),
            ([("Transfer-Encoding", "chunked")], false),
        ] {
            var turn = OperatorTurn()
            let headers = HTTPHeaders([("Host", "a")] + fields)
            turn.came(try CheckedHead(.POST, "/x", minorVersion: 1, headers, maxTargetBytes: 100))
            #expect(turn.begins(stopping: stopping) == .answer(keeps: false))
            #expect(turn.ends(goesOn: true) == .linger && turn.phase == .lingering)
        }
    }

    @Test func `ends after an answer that is whole, not over it, when nobody behind has more to say`() throws {
        var (idle, turn) = (OperatorTurn(), try Self.turn())
        // What is left of the answer would be awaited for ever.
        let early = [idle.closes(), turn.closes(), turn.cameToItsEnd() || turn.closes()]
        #expect(early == [false, false, false])
        #expect(turn.begins(stopping: false) == .answer(keeps: true) && !turn.closes())
        turn.completes()
        #expect(turn.closes() && turn.phase != .lingering)
        #expect(turn.ends(goesOn: true) == .linger && turn.closes())
    }

    @Test func `turns a fault of the client to whoever can still say it`() throws {
        var idle = OperatorTurn()
        #expect(idle.fails(.tooSlow) == .close)
        #expect(idle.fails(.headTooLarge) == .refuse)
        var head = OperatorTurn()
        head.came(bytes: 1)
        #expect(head.fails(.tooSlow) == .refuse)

        var body = try Self.turn(("Content-Length", "5"))
        #expect(body.fails(.tooSlow) == .tellReader)
        // Whatever was made of half a body, the client gets the reason.
        #expect(body.begins(stopping: false) == .fault(.tooSlow))
        #expect(body.ends(goesOn: true) == .linger)

        var whole = try Self.turn()
        _ = whole.cameToItsEnd()
        #expect(whole.fails(.malformed("x")) == .wait)
        #expect(whole.begins(stopping: false) == .answer(keeps: false))

        var rest = try Self.turn(("Content-Length", "5"))
        #expect(rest.begins(stopping: false) == .answer(keeps: true) && rest.ends(goesOn: true) == .rest)
        #expect(rest.fails(.tooSlow) == .close)
        var lingering = OperatorTurn()
        lingering.linger()
        #expect(lingering.fails(.malformed("x")) == .close)
    }
}
