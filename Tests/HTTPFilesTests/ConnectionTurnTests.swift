import Testing

@testable import HTTPFiles

/// Every event in every state, without a channel.
@Suite("The turn of a connection")
struct ConnectionTurnTests {
    private typealias State = ConnectionTurn.State
    private typealias Handler = ConnectionTurn.Handler
    private typealias Reading = ConnectionTurn.Reading

    private static let behinds: [Handler] = [
        .noTask(.open), .noTask(.ended), .task(deliveries: 2, .none), .task(deliveries: 2, .due),
        .task(deliveries: 2, .given),
    ]
    private static let readings: [Reading] = [.free, .held]
    private static let waiting = behinds.map { State.waiting($0) }
    private static let theirs = [State.theirs(deliveries: 2, .open), .theirs(deliveries: 2, .ended)]
    private static let all =
        waiting + theirs + [.ending]
        + each { .answering(.looking, $0, $1) } + each { .answering(.starting, $0, $1) }
        + each { .answering(.writing, $0, $1) }
        + [.handingOver(.open, .free), .handingOver(.open, .held)]
        + [.handingOver(.ended, .free), .handingOver(.ended, .held)]

    /// For each of what may be behind, with a read that is held back and without.
    private static func each<Row>(_ row: (Handler, Reading) -> Row) -> [Row] {
        behinds.flatMap { handler in readings.map { row(handler, $0) } }
    }

    /// What is behind once the client has ended: the task that is there has to hear of it.
    private static func ended(_ handler: Handler) -> Handler {
        switch handler {
        case .noTask: .noTask(.ended)
        case .task(let deliveries, .none): .task(deliveries: deliveries, .due)
        case .task: handler
        }
    }

    private struct Row<Result> {
        let state: State
        let result: Result
        let after: State

        init(_ state: State, _ result: Result, _ after: State) {
            (self.state, self.result, self.after) = (state, result, after)
        }
    }

    /// In each state that `rows` do not name, the result is `otherwise` and the state stays.
    private func expect<Result: Equatable>(
        _ rows: [Row<Result>],
        otherwise: Result,
        _ event: (inout ConnectionTurn) -> Result
    ) {
        for row in rows { #expect(Self.all.contains(row.state), "\(row.state)") }
        for state in Self.all {
            let row = rows.first { $0.state == state }
            var turn = ConnectionTurn(state)
            let (result, after) = (event(&turn), turn.state)
            #expect(result == row?.result ?? otherwise, "\(state)")
            #expect(after == row?.after ?? state, "\(state)")
        }
    }

    // MARK: - The client

    @Test func `keeps what comes, gives it to the task whose turn it is, and drops it at the end`() {
        expect(
            [
                Row(.theirs(deliveries: 2, .open), .deliver, .theirs(deliveries: 3, .open)),
                Row(.theirs(deliveries: 2, .ended), .deliver, .theirs(deliveries: 3, .ended)),
                Row(.ending, .drop, .ending),
            ],
            otherwise: .keep
        ) { $0.received() }
    }

    @Test func `looks at what came when it waited`() {
        expect(
            Self.behinds.map { Row(.waiting($0), .look, .answering(.looking, $0, .free)) }
                + Self.theirs.map { Row($0, .passOn, $0) },
            otherwise: .nothing
        ) { $0.receivedAll() }
    }

    @Test func `holds a read back while an answer is on its way or a task is asked for`() {
        let held: [Row<ConnectionTurn.ReadDecision>] = [ConnectionTurn.Phase.starting, .writing].flatMap { phase in
            Self.each { Row(.answering(phase, $0, $1), .hold, .answering(phase, $0, .held)) }
        }
        expect(
            held + Self.each { Row(.answering(.looking, $0, $1), .read, .answering(.looking, $0, .free)) }
                + Self.readings.flatMap { reading in
                    [ConnectionTurn.Input.open, .ended].map {
                        Row(.handingOver($0, reading), .hold, .handingOver($0, .held))
                    }
                },
            otherwise: .read
        ) { $0.readRequested() }
    }

    @Test func `remembers that the client sends no more, and tells the task at once when that has the turn`() {
        let answering: [Row<ConnectionTurn.InputEnded>] = [ConnectionTurn.Phase.looking, .starting, .writing].flatMap {
            phase in
            Self.each { Row(.answering(phase, $0, $1), .nothing, .answering(phase, Self.ended($0), $1)) }
        }
        expect(
            Self.behinds.map { Row(.waiting($0), .look, .answering(.looking, Self.ended($0), .free)) } + answering
                + Self.readings.map { Row(.handingOver(.open, $0), .nothing, .handingOver(.ended, $0)) } + [
                    Row(.theirs(deliveries: 2, .open), .notify, .theirs(deliveries: 2, .ended)),
                    Row(.ending, .close, .ending),
                ],
            otherwise: .nothing
        ) { $0.inputEnded() }
    }

    // MARK: - Answering

    @Test func `answers as long as there is something to answer`() {
        expect(
            Self.each { Row(.answering(.looking, $0, $1), .answer, .answering(.looking, $0, $1)) },
            otherwise: .stop
        ) { $0.next(hasInput: true) }
    }

    @Test func `waits when all is answered, reads again, and closes for a client that has ended`() {
        let rows = Self.each { (handler, reading) -> Row<ConnectionTurn.Next> in
            let looking = State.answering(.looking, handler, reading)
            let read: ConnectionTurn.Afterwards = reading == .held ? .read : []
            return switch handler {
            case .noTask(.ended): Row(looking, .close, .ending)
            case .task(let deliveries, .due):
                Row(looking, .wait(read.union(.notifyEnd)), .waiting(.task(deliveries: deliveries, .given)))
            case .noTask(.open), .task: Row(looking, .wait(read), .waiting(handler))
            }
        }
        expect(rows, otherwise: .stop) { $0.next(hasInput: false) }
    }

    @Test func `begins to write when there are answers`() {
        expect(
            Self.each { Row(.answering(.looking, $0, $1), .write, .answering(.starting, $0, $1)) },
            otherwise: .stop
        ) { $0.starts() }
    }

    @Test func `looks on when all was written at once, and waits for the rest otherwise`() {
        expect(
            Self.each { Row(.answering(.starting, $0, $1), .stop, .answering(.writing, $0, $1)) }
                + Self.each { Row(.answering(.looking, $0, $1), .look, .answering(.looking, $0, $1)) },
            otherwise: .stop
        ) { $0.started() }
    }

    @Test func `goes on after an answer, without a read of what it may not look at yet`() {
        expect(
            Self.each { Row(.answering(.starting, $0, $1), .nothing, .answering(.looking, $0, $1)) }
                + Self.each { Row(.answering(.writing, $0, $1), .look, .answering(.looking, $0, $1)) },
            otherwise: .nothing
        ) { $0.written(keepsConnection: true) }
    }

    @Test func `ends after a last answer, and lingers for a client that may still send`() {
        let rows = [ConnectionTurn.Phase.starting, .writing].flatMap { phase in
            Self.each { (handler, reading) -> Row<ConnectionTurn.Written> in
                let hasInput = handler == .noTask(.open) || handler == .task(deliveries: 2, .none)
                let linger = ConnectionTurn.Written.linger(reading == .held ? .read : [])
                return Row(.answering(phase, handler, reading), hasInput ? linger : .close, .ending)
            }
        }
        expect(rows, otherwise: .nothing) { $0.written(keepsConnection: false) }
    }

    @Test func `ends whatever it was at when the connection closes`() {
        for state in Self.all {
            var turn = ConnectionTurn(state)
            turn.closes()
            let after = turn.state
            #expect(after == .ending)
        }
    }

    // MARK: - The task behind

    @Test func `asks for a task once, and gives it what comes from then on`() {
        let rows = Self.each { (handler, reading) -> Row<ConnectionTurn.HandingOver> in
            let looking = State.answering(.looking, handler, reading)
            let read: ConnectionTurn.Afterwards = reading == .held ? .read : []
            return switch handler {
            case .noTask(let input): Row(looking, .ask, .handingOver(input, reading))
            case .task(_, .none): Row(looking, .deliver(read), .theirs(deliveries: 3, .open))
            case .task(_, .due): Row(looking, .deliver(read.union(.notifyEnd)), .theirs(deliveries: 3, .ended))
            case .task(_, .given): Row(looking, .deliver(read), .theirs(deliveries: 3, .ended))
            }
        }
        expect(rows, otherwise: .stop) { $0.handsOver() }
    }

    @Test func `gives the task that it asked for the turn, and nobody else`() {
        expect(
            [
                Row(.handingOver(.open, .free), .deliver([]), .theirs(deliveries: 1, .open)),
                Row(.handingOver(.open, .held), .deliver(.read), .theirs(deliveries: 1, .open)),
                Row(.handingOver(.ended, .free), .deliver(.notifyEnd), .theirs(deliveries: 1, .ended)),
                Row(.handingOver(.ended, .held), .deliver([.notifyEnd, .read]), .theirs(deliveries: 1, .ended)),
            ],
            otherwise: .refuse
        ) { $0.attaches() }
    }

    @Test(arguments: 0...4)
    func `takes the turn back when the task has answered all that it was given, and not before`(deliveries: Int) {
        let rows: [Row<ConnectionTurn.FinishDecision>] = [
            Row(.theirs(deliveries: 2, .open), .wait, .waiting(.task(deliveries: 2, .none))),
            Row(.theirs(deliveries: 2, .ended), .wait, .waiting(.task(deliveries: 2, .given))),
        ]
        expect(deliveries == 2 ? rows : [], otherwise: .nothing) { $0.taskFinished(after: deliveries) }
    }

    @Test func `is idle only while it waits for the client`() {
        for state in Self.all {
            let isWaiting = ConnectionTurn(state).isWaiting
            #expect(isWaiting == Self.waiting.contains(state), "\(state)")
        }
    }

    // MARK: - A life

    @Test func `tells the task once that the client has ended, and closes nothing over it`() {
        var turn = ConnectionTurn()
        #expect(turn.received() == .keep)
        #expect(turn.receivedAll() == .look)
        #expect(turn.next(hasInput: true) == .answer)
        #expect(turn.handsOver() == .ask)
        #expect(turn.readRequested() == .hold)
        #expect(turn.attaches() == .deliver(.read))
        #expect(turn.taskFinished(after: 1) == .wait)
        // The next request is answered in front, and its client ends meanwhile.
        #expect(turn.receivedAll() == .look)
        #expect(turn.starts() == .write)
        #expect(turn.started() == .stop)
        #expect(turn.inputEnded() == .nothing)
        #expect(turn.written(keepsConnection: true) == .look)
        #expect(turn.next(hasInput: false) == .wait(.notifyEnd))
        #expect(turn.inputEnded() == .look)
        #expect(turn.next(hasInput: false) == .wait([]))
        let state = turn.state
        #expect(state == .waiting(.task(deliveries: 1, .given)))
    }

    @Test func `reads no more while one answer follows the other`() {
        var turn = ConnectionTurn()
        #expect(turn.receivedAll() == .look)
        for _ in 0..<3 {
            #expect(turn.next(hasInput: true) == .answer)
            #expect(turn.starts() == .write)
            #expect(turn.started() == .stop)
            #expect(turn.readRequested() == .hold)
            #expect(turn.written(keepsConnection: true) == .look)
        }
        #expect(turn.next(hasInput: false) == .wait(.read))
    }
}
