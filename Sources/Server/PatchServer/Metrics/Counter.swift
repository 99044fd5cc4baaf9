import Synchronization

/// A number that many threads change without waiting for one another.
final class Counter: Sendable {
    private let count = Atomic(0)

    func add(_ number: Int = 1) {
        _ = count.wrappingAdd(number, ordering: .relaxed)
    }

    var value: Int { count.load(ordering: .relaxed) }
}

/// A histogram of durations.
final class DurationHistogram: Sendable {
    /// Upper ends, in nanoseconds: from an answer out of memory to a large download over a slow line.
    private static let bounds = [
        500_000, 1_000_000, 5_000_000, 10_000_000, 50_000_000, 100_000_000, 500_000_000, 1_000_000_000, 5_000_000_000,
        10_000_000_000, 60_000_000_000, 600_000_000_000,
    ]

    /// One bucket for each bound, and one for longer durations.
    ///
    /// Each counts only durations above the previous bound.
    private let buckets = (0...bounds.count).map { _ in Counter() }
    private let sum = Counter()

    func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = Int(clamping: seconds) &* 1_000_000_000 &+ Int(attoseconds / 1_000_000_000)
        // Most answers are in the first bucket.
        var index = 0
        while index < Self.bounds.count, nanoseconds > Self.bounds[index] { index += 1 }
        buckets[index].add()
        sum.add(nanoseconds)
    }

    /// Writes the samples.
    ///
    /// The last bucket always equals the count, even during concurrent updates.
    func write(to family: inout MetricFamily, _ labels: [(name: String, value: String)]) {
        var count = 0
        for (index, bucket) in buckets.enumerated() {
            count += bucket.value
            let end = index < Self.bounds.count ? Self.seconds(Self.bounds[index]) : "+Inf"
            family.add(.integer(count), labels + [(name: "le", value: end)], suffix: "_bucket")
        }
        family.add(.nanoseconds(sum.value), labels, suffix: "_sum")
        family.add(.integer(count), labels, suffix: "_count")
    }

    /// A number of seconds such as `0.0005`, `1`, `600`.
    private static func seconds(_ nanoseconds: Int) -> String {
        let text = "\(MetricFamily.Value.nanoseconds(nanoseconds))"
        let short = text.reversed().drop { $0 == "0" }.drop { $0 == "." }
        return String(short.reversed())
    }
}
