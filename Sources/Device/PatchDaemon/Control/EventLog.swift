import DeviceOutput
import Glibc
import NIOConcurrencyHelpers
import NIOCore
package import PatchFormat
package import PatchSync
package import Patchline

/// What happened to the stores of this process, in order, for whoever listens; the last are kept for those who come back.
package final class EventLog: Sendable {
    /// Events that are kept, and how far a listener may fall behind.
    package static let kept = 1_000
    /// Listeners at a time.
    ///
    /// One more ends the oldest of the user that has most.
    package static let mostListeners = 32

    /// An event as it is told.
    package struct Entry: Sendable {
        let number: Int
        let store: String
        let name: String
        let line: [UInt8]
    }

    /// A wake-up of a listener.
    enum Wake: Equatable, Sendable {
        case news
        /// Its place is another listener's.
        case end
    }

    private struct Listener {
        let wake: AsyncStream<Wake>.Continuation
        let user: UInt32?
    }

    private struct State {
        var mappings: [String: DeviceEvents] = [:]
        var recent = CircularBuffer<Entry>()
        var last = 0
        var listeners: [Int: Listener] = [:]
        var nextListener = 0
        var isOpen = true
    }

    /// Names this process, so that another one's event number is not taken for ours.
    private let start: String
    private let now: @Sendable () -> UTCTime
    private let state = NIOLockedValueBox(State())

    package init(
        start: String = String(UInt64.random(in: 0...UInt64.max), radix: 36),
        now: @escaping @Sendable () -> UTCTime = UTCTime.now
    ) {
        (self.start, self.now) = (start, now)
    }

    /// - Parameters:
    ///   - name: of the store, as the settings file names it.
    ///   - file: the store's own log, where it is written down too.
    package func take(_ event: DeviceEvent, from name: String, keptIn file: StoreLog? = nil) {
        let time = now()
        let (news, wakes) = state.withLockedValue { state -> ([DeviceEvent], [AsyncStream<Wake>.Continuation]) in
            let news = state.mappings[name, default: DeviceEvents()].take(event)
            guard !news.isEmpty else { return ([], []) }
            for event in news {
                state.last += 1
                let json = event.json(at: time, store: name, id: id(state.last))
                state.recent.append(Entry(number: state.last, store: name, name: event.name, line: json.fileBytes))
                if state.recent.count > Self.kept { state.recent.removeFirst() }
            }
            return (news, state.listeners.values.map(\.wake))
        }
        // Not under the lock, for which whoever cancels a listener waits while it holds its task's.
        for wake in wakes { wake.yield(.news) }
        file?.append(news.map { $0.logged(at: time, by: "run") })
    }

    /// Ends every listener: the process stops.
    package func close() {
        let wakes = state.withLockedValue { state in
            state.isOpen = false
            defer { state.listeners = [:] }
            return state.listeners.values.map(\.wake)
        }
        for wake in wakes { wake.finish() }
    }

    /// How many listen.
    package var listeners: Int { state.withLockedValue(\.listeners.count) }

    /// How many listeners there were so far.
    var listenersSoFar: Int { state.withLockedValue(\.nextListener) }

    func id(_ number: Int) -> String { "\(start)-\(number)" }

    /// Where a listener stands.
    ///
    /// - Parameter id: the last event that it had, as a returning one names it; nil: it wants what comes from now on. Of another
    ///   process it has nothing of ours.
    func position(after id: String?) -> Int {
        guard let id else { return state.withLockedValue(\.last) }
        guard id.hasPrefix("\(start)-"), let number = Int(id.dropFirst(start.count + 1)) else { return 0 }
        return state.withLockedValue { min(max(0, number), $0.last) }
    }

    /// What came after a position.
    enum News: Sendable {
        case events([Entry])
        /// So many are gone that were not heard.
        case missed(Int)
    }

    func news(after position: Int) -> News {
        state.withLockedValue { state in
            let oldest = state.recent.first?.number ?? state.last + 1
            if position < oldest - 1 { return .missed(oldest - 1 - position) }
            return .events(Array(state.recent.dropFirst(position - oldest + 1)))
        }
    }

    /// Wakes a listener for news.
    ///
    /// The stream ends with the process, or with ``Wake/end`` when the place is another listener's.
    ///
    /// - Parameter user: as ``FileRequest/user``.
    func wakes(for user: UInt32? = nil) -> AsyncStream<Wake> {
        let (stream, wake) = AsyncStream.makeStream(of: Wake.self, bufferingPolicy: .bufferingNewest(1))
        let (number, leaving) = state.withLockedValue { state -> (Int?, Listener?) in
            guard state.isOpen else { return (nil, nil) }
            var leaving: Listener?
            if state.listeners.count >= Self.mostListeners {
                leaving = Self.leaving(state.listeners.mapValues(\.user), for: user).flatMap {
                    state.listeners.removeValue(forKey: $0)
                }
            }
            state.nextListener += 1
            state.listeners[state.nextListener] = Listener(wake: wake, user: user)
            return (state.nextListener, leaving)
        }
        // Not under the lock, as above.
        leaving?.wake.yield(.end)
        leaving?.wake.finish()
        guard let number else {
            wake.finish()
            return stream
        }
        wake.onTermination = { [weak self] _ in
            _ = self?.state.withLockedValue { $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// The oldest listener of the user that has most, so that no user's listeners push out those of another.
    ///
    /// - Parameter newcomer: the user of the listener that comes.
    static func leaving(_ listeners: [Int: UInt32?], for newcomer: UInt32?) -> Int? {
        var counts: [UInt32?: Int] = [newcomer: 1]
        for user in listeners.values { counts[user, default: 0] += 1 }
        let most = listeners.values.compactMap { counts[$0] }.max()
        return listeners.filter { counts[$0.value] == most }.keys.min()
    }
}

extension UTCTime {
    /// By the machine's clock.
    @Sendable package static func now() -> UTCTime {
        UTCTime(seconds: Glibc.time(nil))
    }
}
