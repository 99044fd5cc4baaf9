/// How often somebody may ask: a bucket of permits that fills again with time.
///
/// A value; its clock is whatever counts up.
package struct RateLimiter: Sendable {
    /// Somebody who asks is known by an address or a token's id.
    package typealias Asker = String

    /// How many are remembered; beyond them the ones whose buckets are full again are forgotten.
    private static let remembered = 10_000

    private struct Bucket: Sendable {
        var permits: Double
        var at: Duration
    }

    private let capacity: Double
    /// Permits a second.
    private let rate: Double
    private var buckets: [Asker: Bucket] = [:]

    package init(_ count: Int, per duration: Duration) {
        capacity = Double(count)
        rate = Double(count) / duration.seconds
    }

    /// Takes a permit.
    ///
    /// - Returns: nil when there was one, else how many seconds it takes until there is one.
    package mutating func take(_ asker: Asker, at now: Duration) -> Int? {
        let left = permits(of: asker, at: now)
        guard left >= 1 else { return max(1, Int(((1 - left) / rate).rounded(.up))) }
        put(Bucket(permits: left - 1, at: now), for: asker)
        return nil
    }

    /// Whether there is a permit, without taking it.
    package func wait(of asker: Asker, at now: Duration) -> Int? {
        let left = permits(of: asker, at: now)
        return left >= 1 ? nil : max(1, Int(((1 - left) / rate).rounded(.up)))
    }

    private func permits(of asker: Asker, at now: Duration) -> Double {
        guard let bucket = buckets[asker] else { return capacity }
        return min(capacity, bucket.permits + max(0, (now - bucket.at).seconds) * rate)
    }

    private mutating func put(_ bucket: Bucket, for asker: Asker) {
        buckets[asker] = bucket
        guard buckets.count > Self.remembered else { return }
        let now = bucket.at
        buckets = buckets.filter { permits(of: $0.key, at: now) < capacity }
        // A flood of askers who are all new: the oldest are forgiven.
        if buckets.count > Self.remembered {
            let newest = buckets.sorted { $0.value.at > $1.value.at }.prefix(Self.remembered / 2)
            buckets = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
        }
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
