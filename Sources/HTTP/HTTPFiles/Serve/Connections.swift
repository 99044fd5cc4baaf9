import NIOConcurrencyHelpers
import NIOCore

/// The connections of one server: their number, their activities, which of them makes room, and how all of them end.
///
/// ```
/// idle ──begin──▶ busy ──end──▶ idle
///   │             │ ▲└──becomesEndless──▶ endless ──end──▶ idle
///   │    awaitsBody └─begin─ receiving
///   └─stop: closed   └─stop: finishes its answer, and ends; closed at the drain deadline. Endless, receiving: closed
/// ```
final class Connections: Sendable {
    typealias Place = ConnectionLimiter.Place

    private struct State {
        var room: ConnectionLimiter
        var channels: [Place: any Channel] = [:]
        /// Refused connections without a place that have time to read the reason.
        var refused: [ObjectIdentifier: any Channel] = [:]
        var isStopping = false
        var waiting: [EventLoopPromise<Void>] = []

        /// Returns the waits that end with the last connection.
        mutating func takeFinishedWaits() -> [EventLoopPromise<Void>] {
            guard isStopping, channels.isEmpty else { return [] }
            defer { waiting = [] }
            return waiting
        }
    }

    private let state: NIOLockedValueBox<State>

    init(_ rule: CapacityRule) {
        state = NIOLockedValueBox(State(room: ConnectionLimiter(rule)))
    }

    enum Admission {
        /// - leaving: The connection that makes room and must be closed, with its group.
        case admitted(Place, leaving: (channel: any Channel, of: ClientGroup)?)
        /// - answers: Whether there is time to send a refusal.
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

    /// Removes a refused connection that had time to read its refusal.
    func refusalEnded(_ channel: any Channel) {
        state.withLockedValue { $0.refused[ObjectIdentifier(channel)] = nil }
    }

    func remove(_ place: Place) {
        let waiting = state.withLockedValue { state in
            state.room.leave(place)
            state.channels[place] = nil
            return state.takeFinishedWaits()
        }
        for promise in waiting { promise.succeed() }
    }

    /// Returns once the server has stopped and the last connection has ended.
    func ended(on eventLoop: any EventLoop) async {
        let promise = eventLoop.makePromise(of: Void.self)
        let waiting = state.withLockedValue { state in
            state.waiting.append(promise)
            return state.takeFinishedWaits()
        }
        for promise in waiting { promise.succeed() }
        try? await promise.futureResult.get()
    }

    var isStopping: Bool { state.withLockedValue { $0.isStopping } }

    /// Notes a complete request.
    ///
    /// Returns false if it is too late to answer: the server has stopped, or the place was reassigned.
    func begin(_ place: Place, _ right: ClientAuthorization) -> Bool {
        state.withLockedValue { state in
            !state.isStopping && state.room.set(place, .busy, isKnown: right.isShown)
        }
    }

    /// Counts a proxy's request for its client's group.
    ///
    /// Returns false if the group has its share and room is short.
    func ask(_ place: Place, for group: ClientGroup) -> Bool {
        state.withLockedValue { $0.room.ask(place, for: group) }
    }

    /// Notes that a request's body is awaited.
    ///
    /// Until the next ``begin(_:_:)``, stopping the server closes the connection.
    ///
    /// - Returns: False if it is too late.
    func awaitsBody(_ place: Place, _ right: ClientAuthorization) -> Bool {
        state.withLockedValue { state in
            !state.isStopping && state.room.set(place, .receiving, isKnown: right.isShown)
        }
    }

    /// Notes that more of the body is awaited for a request that is being processed.
    func awaitsMore(_ place: Place, _ right: ClientAuthorization) {
        state.withLockedValue { state in
            guard let activity = state.room.activity(of: place), activity == .busy || activity == .uploading else {
                return
            }
            _ = state.room.set(place, .uploading, isKnown: right.isShown)
        }
    }

    /// Notes that the answer is sent and the unused rest of the body is awaited.
    ///
    /// A stranger's connection can make room meanwhile: otherwise a client without a right could keep its place by never sending
    /// the rest.
    func awaitsRest(_ place: Place, _ right: ClientAuthorization) {
        state.withLockedValue { _ = $0.room.set(place, .uploading, isKnown: right.isShown) }
    }

    /// Notes that the answer is being sent, even if the server waits for something else as well.
    func answers(_ place: Place, _ right: ClientAuthorization) {
        state.withLockedValue { _ = $0.room.set(place, .answering, isKnown: right.isShown) }
    }

    enum EndlessAnswer: Equatable, Sendable {
        case granted, tooMany
        /// The server has stopped before.
        case tooLate
    }

    /// Notes that the answer is endless, so that stopping the server does not wait for it.
    func becomesEndless(_ place: Place, _ right: ClientAuthorization, tunnel: Bool = false) -> EndlessAnswer {
        state.withLockedValue { state in
            if state.isStopping || !state.room.holds(place) { return .tooLate }
            return state.room.set(place, tunnel ? .tunnel : .endless, isKnown: right.isShown) ? .granted : .tooMany
        }
    }

    /// Notes that the answer is complete.
    ///
    /// Returns false if the server has stopped meanwhile, so that the connection ends here.
    func end(_ place: Place, _ right: ClientAuthorization) -> Bool {
        state.withLockedValue { state in
            state.room.set(place, .idle, isKnown: right.isShown) && !state.isStopping
        }
    }

    /// Closes the idle, receiving and endless connections now.
    ///
    /// A busy one is ended by ``end(_:_:)`` after its answer.
    func stop() {
        let unfinishable = state.withLockedValue { state in
            state.isStopping = true
            return state.room.places.compactMap { place, activity in
                Self.isFinishable(activity) ? nil : state.channels[place]
            }
        }
        for channel in unfinishable { channel.close(promise: nil) }
    }

    private static func isFinishable(_ activity: ConnectionLimiter.Activity) -> Bool {
        switch activity {
        case .busy, .uploading, .answering: true
        case .idle, .receiving, .endless, .tunnel: false
        }
    }

    /// Closes all connections once the drain deadline has passed.
    func closeAll(_ close: (any Channel) -> Void) {
        let all = state.withLockedValue { Array($0.channels.values) + Array($0.refused.values) }
        for channel in all { close(channel) }
    }
}
