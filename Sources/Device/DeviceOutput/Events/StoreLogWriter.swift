import NIOConcurrencyHelpers
package import PatchFormat
package import PatchSync
package import Patchline

/// Writes what one program does to a store into the store's log.
package final class StoreLogWriter: Sendable {
    private let log: StoreLog
    private let program: String
    private let now: @Sendable () -> UTCTime
    private let events = NIOLockedValueBox(DeviceEvents())

    /// - Parameter program: `sync`, `serve`.
    package init(_ log: StoreLog, by program: String, now: @escaping @Sendable () -> UTCTime) {
        (self.log, self.program, self.now) = (log, program, now)
    }

    package func take(_ event: LocalServer.Event) {
        let news = events.withLockedValue { $0.take(event) }
        log.append(news.filter(isNews).map { $0.logged(at: now(), by: program) })
    }

    /// A program that runs every hour finds the same each time: a question is news where the log has another answer last, and
    /// what waits for approval where the log does not say so yet.
    private func isNews(_ event: DeviceEvent) -> Bool {
        switch event.what {
        case .asked, .awaiting: break
        default: return true
        }
        let line = event.logged(at: now(), by: program)
        let same = ["event", "patchId", "version"]
        guard let old = log.lines().last(where: { old in same.allSatisfy { old[$0] == line[$0] } }) else { return true }
        return old["data"]?.fileBytes != line["data"]?.fileBytes
    }
}
