import DeviceOutput
import Glibc
package import HTTPAPI
import NIOConcurrencyHelpers
package import PatchFormat
package import PatchSync
package import Patchline

/// Converts the events of this process's stores into events for listeners, and writes them to the stores' logs.
package final class EventLog: Sendable {
    /// The number of events that are kept, and that a listener may be behind.
    package static let kept = 1_000
    /// The largest number of simultaneous listeners.
    package static let mostListeners = 32

    package let hub: EventHub
    private let now: @Sendable () -> UTCTime
    /// The event mappings by the names of the stores.
    private let mappings = NIOLockedValueBox<[String: DeviceEvents]>([:])

    package init(
        start: String = String(UInt64.random(in: 0...UInt64.max), radix: 36),
        now: @escaping @Sendable () -> UTCTime = UTCTime.now
    ) {
        hub = EventHub(start: start, kept: Self.kept, mostListeners: Self.mostListeners)
        self.now = now
    }

    /// - Parameters:
    ///   - name: The store's name in the settings file.
    ///   - file: The store's own log, which receives the same events.
    package func take(_ event: DeviceEvent, from name: String, keptIn file: StoreLog? = nil) {
        take([event], from: name, keptIn: file)
    }

    /// Takes events that belong together, with one append to the store's own log.
    package func take(_ newEvents: [DeviceEvent], from name: String, keptIn file: StoreLog? = nil) {
        let time = now()
        var news: [DeviceEvent] = []
        hub.add { first in
            news = mappings.withLockedValue { mappings in
                newEvents.flatMap { mappings[name, default: DeviceEvents()].take($0) }
            }
            return news.enumerated().map { offset, event in
                let json = event.json(at: time, store: name, id: hub.id(first + offset))
                return EventHub.Event(topic: name, name: event.name, line: json.fileBytes)
            }
        }
        file?.append(news.map { $0.logged(at: time, by: "run") })
    }

    /// Disconnects every listener, because the process stops.
    package func close() { hub.close() }
}

extension UTCTime {
    /// The time of the machine's clock.
    @Sendable package static func now() -> UTCTime {
        UTCTime(seconds: Glibc.time(nil))
    }
}
