import HTTPCore
import HTTPFiles

/// Limits the rate of requests with buckets of permits that refill over time.
///
/// It is a value. Its caller supplies a monotonic clock.
package struct RateLimiter: Sendable {
    /// The limited client: an address or a token's id.
    package typealias Key = String

    private static let start = ContinuousClock.now
    /// A monotonic clock.
    package static let sinceStart: @Sendable () -> Duration = { start.duration(to: .now) }

    /// The number of clients that are stored.
    ///
    /// Above it, those with a full bucket are removed.
    private static let remembered = 10_000

    private struct Bucket: Sendable {
        /// The permits, expressed as the time that they took to refill.
        var credit: Duration
        var at: Duration
    }

    /// The time in which one permit refills.
    private let interval: Duration
    private let capacity: Duration
    private var buckets: [Key: Bucket] = [:]

    package init(_ count: Int, per duration: Duration) {
        interval = duration / count
        capacity = interval * count
    }

    /// Takes a permit.
    ///
    /// - Returns: Nil if there was one, else the seconds until there is one.
    package mutating func take(_ key: Key, at now: Duration) -> Int? {
        let credit = credit(of: key, at: now)
        guard credit >= interval else { return max(1, (interval - credit).wholeSeconds) }
        put(Bucket(credit: credit - interval, at: now), for: key)
        return nil
    }

    private func credit(of key: Key, at now: Duration) -> Duration {
        guard let bucket = buckets[key] else { return capacity }
        return min(capacity, bucket.credit + max(.zero, now - bucket.at))
    }

    private mutating func put(_ bucket: Bucket, for key: Key) {
        buckets[key] = bucket
        guard buckets.count > Self.remembered else { return }
        let now = bucket.at
        buckets = buckets.filter { credit(of: $0.key, at: now) < capacity }
        // During a flood of new clients, the oldest are removed.
        if buckets.count > Self.remembered {
            let newest = buckets.sorted { $0.value.at > $1.value.at }.prefix(Self.remembered / 2)
            buckets = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
        }
    }
}

extension Duration {
    /// The duration in seconds, rounded up.
    fileprivate var wholeSeconds: Int {
        Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0)
    }
}

/// Limits the requests of each address per minute, and those of all addresses together.
struct AddressLimiter: Sendable {
    private var ofOne: RateLimiter
    private var ofAll: RateLimiter

    init(_ one: Int, ofAll all: Int) {
        ofOne = RateLimiter(one, per: .seconds(60))
        ofAll = RateLimiter(all, per: .seconds(60))
    }

    /// - Returns: Nil if the client may ask, else the number of seconds until it may.
    mutating func take(from client: LimitedClient, at now: Duration) -> Int? {
        // A client that has used up its own permits does not use the common ones.
        ofOne.take(client.name, at: now) ?? ofAll.take("", at: now)
    }
}

/// A client as identified for a limit.
struct LimitedClient: Hashable, Sendable {
    let name: String

    /// See ``HTTPFiles/ClientName`` for the rules.
    init(_ address: String?, forwarded: [String], trusting proxies: TrustedProxies) {
        name = ClientName(address, forwarded: forwarded, trusting: proxies).text
    }
}
