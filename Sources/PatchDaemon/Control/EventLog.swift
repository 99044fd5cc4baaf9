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

    /// An event as it is told.
    package struct Entry: Sendable {
        let number: Int
        let store: String
        let name: String
        let line: [UInt8]
    }

    private struct State {
        var mappings: [String: DeviceEvents] = [:]
        var recent = CircularBuffer<Entry>()
        var last = 0
        var wakes: [Int: AsyncStream<Void>.Continuation] = [:]
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
    package func take(_ event: LocalServer.Event, from name: String, keptIn file: StoreLog? = nil) {
        let time = now()
        let (news, wakes) = state.withLockedValue { state -> ([DeviceEvent], [AsyncStream<Void>.Continuation]) in
            let news = state.mappings[name, default: DeviceEvents()].take(event)
            guard !news.isEmpty else { return ([], []) }
            for event in news {
                state.last += 1
                let json = event.json(at: time, store: name, id: id(state.last))
                state.recent.append(Entry(number: state.last, store: name, name: event.name, line: json.fileBytes))
                if state.recent.count > Self.kept { state.recent.removeFirst() }
            }
            return (news, Array(state.wakes.values))
        }
        // Not under the lock, for which whoever cancels a listener waits while it holds its task's.
        for wake in wakes { wake.yield() }
        file?.append(news.map { $0.logged(at: time, by: "run") })
    }

    /// Ends every listener: the process stops.
    package func close() {
        let wakes = state.withLockedValue { state in
            state.isOpen = false
            defer { state.wakes = [:] }
            return Array(state.wakes.values)
        }
        for wake in wakes { wake.finish() }
    }

    /// How many listen.
    package var listeners: Int { state.withLockedValue(\.wakes.count) }

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

    /// Told that there is news, and nothing while there is none; ends with the process, or when it is released.
    func wakes() -> AsyncStream<Void> {
        let (stream, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLockedValue { state -> Int? in
            guard state.isOpen else { return nil }
            state.nextListener += 1
            state.wakes[state.nextListener] = wake
            return state.nextListener
        }
        guard let number else {
            wake.finish()
            return stream
        }
        wake.onTermination = { [weak self] _ in
            _ = self?.state.withLockedValue { $0.wakes.removeValue(forKey: number) }
        }
        return stream
    }
}

extension UTCTime {
    /// By the machine's clock.
    @Sendable package static func now() -> UTCTime {
        UTCTime(seconds: Glibc.time(nil))
    }
}
