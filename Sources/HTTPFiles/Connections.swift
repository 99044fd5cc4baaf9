import NIOConcurrencyHelpers
import NIOCore

/// The connections of one server: how many there are, which have an answer in flight, and how all of them end.
///
/// ```
/// idle ──begin──▶ busy ──end──▶ idle
///   │             │ ▲└──becomesEndless──▶ endless ──end──▶ idle
///   │    awaitsBody └─begin─ receiving
///   └─stop: closed   └─stop: finishes its answer, and ends; closed at the drain deadline. Endless, receiving: closed
/// ```
final class Connections: Sendable {
    private enum Activity {
        case idle
        case busy
        /// Of its request the body is still to come; nothing was done for it.
        case receiving
        /// Its answer has no end of its own: events, a tunnel.
        case endless
    }

    private struct State {
        var open: [ObjectIdentifier: (channel: any Channel, activity: Activity)] = [:]
        var isStopping = false
        var waiting: [EventLoopPromise<Void>] = []

        /// Who waits for the last connection's end, when it has come.
        mutating func whoseWaitEnds() -> [EventLoopPromise<Void>] {
            guard isStopping, open.isEmpty else { return [] }
            defer { waiting = [] }
            return waiting
        }
    }

    private let state = NIOLockedValueBox(State())
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    enum Admission: Equatable, Sendable {
        case admitted
        case full
        case stopping
    }

    func admit(_ channel: any Channel) -> Admission {
        state.withLockedValue { state in
            if state.isStopping { return .stopping }
            if state.open.count >= limit { return .full }
            state.open[ObjectIdentifier(channel)] = (channel, .idle)
            return .admitted
        }
    }

    func remove(_ channel: any Channel) {
        let waiting = state.withLockedValue { state in
            state.open.removeValue(forKey: ObjectIdentifier(channel))
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

    /// A request is complete; false if the server stopped before, and it is too late to answer.
    func begin(_ channel: any Channel) -> Bool {
        state.withLockedValue { state in
            if state.isStopping { return false }
            state.open[ObjectIdentifier(channel)]?.activity = .busy
            return true
        }
    }

    /// The body of a request is still to come: until the next ``begin(_:)`` a stop closes the connection.
    func awaitsBody(_ channel: any Channel) {
        let isStopping = state.withLockedValue { state in
            state.open[ObjectIdentifier(channel)]?.activity = .receiving
            return state.isStopping
        }
        if isStopping { channel.close(promise: nil) }
    }

    /// The answer has no end that a stop could wait for; false if the server stopped before.
    func becomesEndless(_ channel: any Channel) -> Bool {
        state.withLockedValue { state in
            if state.isStopping { return false }
            state.open[ObjectIdentifier(channel)]?.activity = .endless
            return true
        }
    }

    /// The answer is out; false if the server stopped meanwhile, and the connection ends here.
    func end(_ channel: any Channel) -> Bool {
        state.withLockedValue { state in
            state.open[ObjectIdentifier(channel)]?.activity = .idle
            return !state.isStopping
        }
    }

    /// Closes what is idle, receiving or endless now; what is busy learns it from ``end(_:)`` after its answer.
    func stop() {
        let unfinishable = state.withLockedValue { state in
            state.isStopping = true
            return state.open.values.filter { $0.activity != .busy }.map(\.channel)
        }
        for channel in unfinishable { channel.close(promise: nil) }
    }

    /// The drain deadline has passed.
    func closeAll() {
        let all = state.withLockedValue { $0.open.values.map(\.channel) }
        for channel in all { channel.close(promise: nil) }
    }
}
