import NIOConcurrencyHelpers
import NIOCore

/// The events of this process, in order, for listeners; the newest are kept for listeners that return.
///
/// Listeners pull: the hub wakes them, and each reads from its own position. So a slow listener costs no memory.
package final class EventHub: Sendable {
    package struct Event: Sendable {
        /// The part of the process that has the event; a listener may choose one.
        package let topic: String
        package let name: String
        /// JSON in one line.
        package let line: [UInt8]

        package init(topic: String, name: String, line: [UInt8]) {
            (self.topic, self.name, self.line) = (topic, name, line)
        }
    }

    package struct Entry: Sendable {
        package let number: Int
        package let event: Event
    }

    /// A wake-up of a listener.
    package enum Wake: Equatable, Sendable {
        case news
        /// Another listener gets the place.
        case end
    }

    private struct Listener {
        let wake: AsyncStream<Wake>.Continuation
        let user: UInt32?
    }

    private struct State {
        var recent = CircularBuffer<Entry>()
        var last = 0
        var listeners: [Int: Listener] = [:]
        var nextListener = 0
        var isOpen = true
    }

    /// Names this process, so that event numbers of another process are not mistaken for its own.
    private let start: String
    private let kept: Int
    private let mostListeners: Int
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - kept: events that are kept, and how far a listener may fall behind.
    ///   - mostListeners: listeners at a time. One more ends the oldest of the user that has most.
    package init(start: String, kept: Int, mostListeners: Int) {
        (self.start, self.kept, self.mostListeners) = (start, kept, mostListeners)
    }

    /// Adds events and wakes the listeners.
    ///
    /// - Parameter make: returns the events from the number of the first. It is called under the lock, so the order of the
    ///   events is the order of the calls.
    package func add(_ make: (_ first: Int) -> [Event]) {
        let wakes = state.withLockedValue { state -> [AsyncStream<Wake>.Continuation] in
            let events = make(state.last + 1)
            guard !events.isEmpty else { return [] }
            for event in events {
                state.last += 1
                state.recent.append(Entry(number: state.last, event: event))
                if state.recent.count > kept { state.recent.removeFirst() }
            }
            return state.listeners.values.map(\.wake)
        }
        // Not under the lock: cancelling a listener holds the lock of its task and waits for this one.
        for wake in wakes { wake.yield(.news) }
    }

    /// Ends every listener, because the process stops.
    package func close() {
        let wakes = state.withLockedValue { state in
            state.isOpen = false
            defer { state.listeners = [:] }
            return state.listeners.values.map(\.wake)
        }
        for wake in wakes { wake.finish() }
    }

    package var listeners: Int { state.withLockedValue(\.listeners.count) }

    /// The number of listeners since the start.
    package var listenersSoFar: Int { state.withLockedValue(\.nextListener) }

    package func id(_ number: Int) -> String { "\(start)-\(number)" }

    /// The position of a listener.
    ///
    /// - Parameter id: the last event that a returning listener received; nil for a listener that wants only new events. The id
    ///   of another process is before all events of this one.
    package func position(after id: String?) -> Int {
        guard let id else { return state.withLockedValue(\.last) }
        guard id.hasPrefix("\(start)-"), let number = Int(id.dropFirst(start.count + 1)) else { return 0 }
        return state.withLockedValue { min(max(0, number), $0.last) }
    }

    /// The events after a position.
    package enum News: Sendable {
        case events([Entry])
        /// The number of events that are no longer kept.
        case missed(Int)
    }

    package func news(after position: Int) -> News {
        state.withLockedValue { state in
            let oldest = state.recent.first?.number ?? state.last + 1
            if position < oldest - 1 { return .missed(oldest - 1 - position) }
            return .events(Array(state.recent.dropFirst(position - oldest + 1)))
        }
    }

    /// Wakes a listener for news.
    ///
    /// The stream ends with the process, or with ``Wake/end`` when another listener gets the place.
    ///
    /// - Parameter user: as ``FileRequest/user``.
    package func wakes(for user: UInt32? = nil) -> AsyncStream<Wake> {
        let (stream, wake) = AsyncStream.makeStream(of: Wake.self, bufferingPolicy: .bufferingNewest(1))
        let (number, leaving) = state.withLockedValue { state -> (Int?, Listener?) in
            guard state.isOpen else { return (nil, nil) }
            var leaving: Listener?
            if state.listeners.count >= mostListeners {
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

    /// The oldest listener of the user that has most, so that one user's listeners do not end those of another.
    ///
    /// - Parameter newcomer: the user of the new listener.
    package static func leaving(_ listeners: [Int: UInt32?], for newcomer: UInt32?) -> Int? {
        var counts: [UInt32?: Int] = [newcomer: 1]
        for user in listeners.values { counts[user, default: 0] += 1 }
        let most = listeners.values.compactMap { counts[$0] }.max()
        return listeners.filter { counts[$0.value] == most }.keys.min()
    }
}
