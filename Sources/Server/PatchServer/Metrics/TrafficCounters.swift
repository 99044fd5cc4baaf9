package import HTTPFiles

/// The requests and responses of a server.
///
/// Counting takes a few atomic additions per request.
package final class TrafficCounters: TrafficMeter {
    private static let statuses = ["1xx", "2xx", "3xx", "4xx", "5xx"]

    /// A class, so that counting retains one object and not each of its parts.
    private final class Kind: Sendable {
        let requests = TrafficCounters.statuses.map { _ in Counter() }
        let bytes = Counter()
        let durations = DurationHistogram()
    }

    private let kinds = PathClass.allCases.map { _ in Kind() }
    private let open = Counter()
    private let lost = LossOfConnection.allCases.map { _ in Counter() }

    package init() {}

    package func connectionOpened() { open.add() }
    package func connectionClosed() { open.add(-1) }
    package func connectionLost(_ loss: LossOfConnection) {
        if let index = LossOfConnection.allCases.firstIndex(of: loss) { lost[index].add() }
    }

    package func answered(_ target: String, status: Int, bodyBytes: Int, in duration: Duration) {
        let kind = kinds[PathClass(target: target).index]
        kind.requests[min(max(status / 100, 1), 5) - 1].add()
        kind.bytes.add(bodyBytes)
        kind.durations.add(duration)
    }

    var families: [MetricFamily] {
        var requests = MetricFamily("patchsrv_http_requests_total", .counter, "Answered requests.")
        var bytes = MetricFamily(
            "patchsrv_http_body_bytes_total",
            .counter,
            "Bytes of answers' bodies handed to the system."
        )
        var durations = MetricFamily(
            "patchsrv_http_request_duration_seconds",
            .histogram,
            "From a request's last byte read to its answer's last byte written."
        )
        for (path, kind) in zip(PathClass.allCases, kinds) {
            let label = (name: "path", value: path.rawValue)
            for (status, count) in zip(Self.statuses, kind.requests) {
                requests.add(.integer(count.value), [label, (name: "status", value: status)])
            }
            bytes.add(.integer(kind.bytes.value), [label])
            kind.durations.write(to: &durations, [label])
        }
        var dropped = MetricFamily(
            "patchsrv_connections_dropped_total",
            .counter,
            "Connections closed while they waited, to make room, or because they were too slow."
        )
        for (loss, count) in zip(LossOfConnection.allCases, lost) where loss != .refused {
            dropped.add(.integer(count.value), [(name: "reason", value: loss.rawValue)])
        }
        return [
            requests, bytes, durations, dropped,
            MetricFamily("patchsrv_connections_open", .gauge, "Connections that are served now.", .integer(open.value)),
            MetricFamily(
                "patchsrv_connections_refused_total",
                .counter,
                "Connections refused because there were too many.",
                .integer(lost[0].value)
            ),
        ]
    }
}
