import DeviceOutput
import Glibc
package import HTTPAPI
import NIOConcurrencyHelpers
package import PatchFormat
package import PatchSync
package import Patchline

/// Turns the events of this process's stores into events for listeners, and writes them to the stores' logs.
package final class EventLog: Sendable {
    /// Events that are kept, and how far a listener may fall behind.
    package static let kept = 1_000
    /// Listeners at a time.
    package static let mostListeners = 32

    package let hub: EventHub
    private let now: @Sendable () -> UTCTime
    /// By the names of the stores.
    private let mappings = NIOLockedValueBox<[String: DeviceEvents]>([:])

    package init(
        start: String = String(UInt64.random(in: 0...UInt64.max), radix: 36),
        now: @escaping @Sendable () -> UTCTime = UTCTime.now
    ) {
        hub = EventHub(start: start, kept: Self.kept, mostListeners: Self.mostListeners)
        self.now = now
    }

    /// - Parameters:
    ///   - name: the store's name in the settings file.
    ///   - file: the store's own log, which gets the same events.
    package func take(_ event: DeviceEvent, from name: String, keptIn file: StoreLog? = nil) {
        let time = now()
        var news: [DeviceEvent] = []
        hub.add { first in
            news = mappings.withLockedValue { $0[name, default: DeviceEvents()].take(event) }
            return news.enumerated().map { offset, event in
                let json = event.json(at: time, store: name, id: hub.id(first + offset))
                return EventHub.Event(topic: name, name: event.name, line: json.fileBytes)
            }
        }
        file?.append(news.map { $0.logged(at: time, by: "run") })
    }

    /// Ends every listener, because the process stops.
    package func close() { hub.close() }
}

extension UTCTime {
    /// By the machine's clock.
    @Sendable package static func now() -> UTCTime {
        UTCTime(seconds: Glibc.time(nil))
    }
}
