import NIOConcurrencyHelpers
package import PatchFormat

/// How often the online key signed again, and how often that failed.
package final class RefreshCounters: Sendable {
    private struct Row {
        var signed = 0
        var failed = 0
    }

    private let rows = NIOLockedValueBox<[String: Row]>([:])

    package init() {}

    /// - Parameter app: nil if the folder itself cannot be read.
    package func add(_ app: AppID?, _ result: RefreshResult) {
        rows.withLockedValue { rows in
            switch result {
            case .signed: rows[app?.text ?? "", default: Row()].signed += 1
            case .failed: rows[app?.text ?? "", default: Row()].failed += 1
            case .fresh, .locked, .clockBehind, .withoutKey: break
            }
        }
    }

    var family: MetricFamily {
        var family = MetricFamily(
            "patchsrv_refreshes_total",
            .counter,
            "Signings of snapshot, timestamp and dial by this process; without an app: the folder could not be read."
        )
        for (app, row) in rows.withLockedValue(\.self).sorted(by: { $0.key < $1.key }) {
            for (result, count) in [("signed", row.signed), ("failed", row.failed)] {
                family.add(.integer(count), [(name: "app", value: app), (name: "result", value: result)])
            }
        }
        return family
    }
}
