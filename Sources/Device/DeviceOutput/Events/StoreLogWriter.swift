import NIOConcurrencyHelpers
package import PatchFormat
package import PatchSync
package import Patchline

/// Writes the events of one program into the store's log.
package final class StoreLogWriter: Sendable {
    private let log: StoreLog
    private let program: String
    private let now: @Sendable () -> UTCTime
    private let events = NIOLockedValueBox(DeviceEvents())

    /// - Parameter program: The program's name, such as `sync` or `serve`.
    package init(_ log: StoreLog, by program: String, now: @escaping @Sendable () -> UTCTime) {
        (self.log, self.program, self.now) = (log, program, now)
    }

    package func take(_ event: DeviceEvent) { take([event]) }

    /// Writes events that belong together with one append.
    package func take(_ newEvents: [DeviceEvent]) {
        let news = events.withLockedValue { events in newEvents.flatMap { events.take($0) } }
        log.append(news.filter(isNews).map { $0.logged(at: now(), by: program) })
    }

    /// Whether to log an event.
    ///
    /// A question, or a version that waits for approval, is logged only if the log's last line about it differs.
    ///
    /// A program that runs every hour receives the same answers each time.
    private func isNews(_ event: DeviceEvent) -> Bool {
        switch event {
        case .asked, .awaiting: break
        default: return true
        }
        let line = event.logged(at: now(), by: program)
        let same = ["event", "patchId", "version"]
        guard let old = log.lines().last(where: { old in same.allSatisfy { old[$0] == line[$0] } }) else { return true }
        return old["data"]?.fileBytes != line["data"]?.fileBytes
    }
}
