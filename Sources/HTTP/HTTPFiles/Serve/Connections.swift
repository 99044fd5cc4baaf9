import NIOConcurrencyHelpers
import NIOCore

/// The connections of one server: how many there are, which have an answer in flight, who makes room, and how all end.
///
/// ```
/// idle ──begin──▶ busy ──end──▶ idle
///   │             │ ▲└──becomesEndless──▶ endless ──end──▶ idle
///   │    awaitsBody └─begin─ receiving
///   └─stop: closed   └─stop: finishes its answer, and ends; closed at the drain deadline. Endless, receiving: closed
/// ```
final class Connections: Sendable {
    typealias Place = Room.Place

    private struct State {
        var room: Room
        var channels: [Place: any Channel] = [:]
        /// Those without a place that have the time to read why.
        var refused: [ObjectIdentifier: any Channel] = [:]
        var isStopping = false
        var waiting: [EventLoopPromise<Void>] = []

        /// Who waits for the last connection's end, when it has come.
        mutating func whoseWaitEnds() -> [EventLoopPromise<Void>] {
            guard isStopping, channels.isEmpty else { return [] }
            defer { waiting = [] }
            return waiting
        }
    }

    private let state: NIOLockedValueBox<State>

    init(_ rule: RoomRule) {
        state = NIOLockedValueBox(State(room: Room(rule)))
    }

    enum Admission {
        /// - leaving: makes room and is to be closed, with whose it was.
        case admitted(Place, leaving: (channel: any Channel, of: ClientGroup)?)
        /// - answers: whether there is time to say so.
        case full(answers: Bool)
        case stopping
    }

    func admit(_ channel: any Channel, of group: ClientGroup) -> Admission {
        state.withLockedValue { state in
            if state.isStopping { return .stopping }
            switch state.room.enter(group) {
            case .entered(let place, let leaving, let whose):
                state.channels[place] = channel
                guard let leaving, let left = state.channels.removeValue(forKey: leaving) else {
                    return .admitted(place, leaving: nil)
                }
                return .admitted(place, leaving: (left, whose ?? .boundless))
            case .refused:
                guard state.refused.count < state.room.rule.refusals else { return .full(answers: false) }
                state.refused[ObjectIdentifier(channel)] = channel
                return .full(answers: true)
            }
        }
    }

    /// Somebody who was refused, and got the time to read it, is gone.
    func refusalEnded(_ channel: any Channel) {
        state.withLockedValue { $0.refused[ObjectIdentifier(channel)] = nil }
    }

    func remove(_ place: Place) {
        let waiting = state.withLockedValue { state in
            state.room.leave(place)
            state.channels[place] = nil
            return state.whoseWaitEnds()
        }
        for promise in waiting { promise.succeed() }
    }

    /// Returns once the server has stopped and the last connection has ended.
    func ended(on eventLoop: any EventLoop) async {
        let promise = eventLoop.makePromise(of: Void.self)
        let waiting = state.withLockedValue { state in
            state.waiting.append(promise)
            return state.whoseWaitEnds()
        }
        for promise in waiting { promise.succeed() }
        try? await promise.futureResult.get()
    }

    var isStopping: Bool { state.withLockedValue { $0.isStopping } }

    /// A request is complete; false if the server stopped before, or the place went to another: it is too late to answer.
    func begin(_ place: Place, _ right: ShownRight) -> Bool {
        state.withLockedValue { state in
            !state.isStopping && state.room.set(place, .busy, isKnown: right.isShown)
        }
    }

    /// A proxy asks for somebody; false when they have their share and room is short.
    func ask(_ place: Place, for group: ClientGroup) -> Bool {
        state.withLockedValue { $0.room.ask(place, for: group) }
    }

    /// The body of a request is still to come: until the next ``begin(_:_:)`` a stop closes the connection.
    ///
    /// - Returns: false if it is too late for it.
    func awaitsBody(_ place: Place, _ right: ShownRight) -> Bool {
        state.withLockedValue { state in
            !state.isStopping && state.room.set(place, .receiving, isKnown: right.isShown)
        }
    }

    /// The body of a request that is worked on already is waited for.
    func awaitsMore(_ place: Place, _ right: ShownRight) {
        state.withLockedValue { state in
            guard let activity = state.room.activity(of: place), activity == .busy || activity == .uploading else {
                return
            }
            _ = state.room.set(place, .uploading, isKnown: right.isShown)
        }
    }

    /// The answer is on its way from here on, whatever else is waited for.
    func answers(_ place: Place, _ right: ShownRight) {
        state.withLockedValue { _ = $0.room.set(place, .answering, isKnown: right.isShown) }
    }

    enum EndlessAnswer: Equatable, Sendable {
        case granted, tooMany
        /// The server stopped before.
        case tooLate
    }

    /// The answer has no end that a stop could wait for.
    func becomesEndless(_ place: Place, _ right: ShownRight, tunnel: Bool = false) -> EndlessAnswer {
        state.withLockedValue { state in
            if state.isStopping || !state.room.holds(place) { return .tooLate }
            return state.room.set(place, tunnel ? .tunnel : .endless, isKnown: right.isShown) ? .granted : .tooMany
        }
    }

    /// The answer is out; false if the server stopped meanwhile, and the connection ends here.
    func end(_ place: Place, _ right: ShownRight) -> Bool {
        state.withLockedValue { state in
            state.room.set(place, .idle, isKnown: right.isShown) && !state.isStopping
        }
    }

    /// Closes what is idle, receiving or endless now; what is busy learns it from ``end(_:_:)`` after its answer.
    func stop() {
        let unfinishable = state.withLockedValue { state in
            state.isStopping = true
            return state.room.places.compactMap { place, activity in
                Self.isFinishable(activity) ? nil : state.channels[place]
            }
        }
        for channel in unfinishable { channel.close(promise: nil) }
    }

    private static func isFinishable(_ activity: Room.Activity) -> Bool {
        switch activity {
        case .busy, .uploading, .answering: true
        case .idle, .receiving, .endless, .tunnel: false
        }
    }

    /// The drain deadline has passed.
    func closeAll() {
        let all = state.withLockedValue { Array($0.channels.values) + Array($0.refused.values) }
        for channel in all { channel.close(promise: nil) }
    }
}
