import HTTPFiles

/// How often somebody may ask: a bucket of permits that fills again with time.
///
/// A value; its clock is whatever counts up.
package struct RateLimiter: Sendable {
    /// The client that is limited: an address, or a token's id.
    package typealias Key = String

    private static let start = ContinuousClock.now
    /// A clock that only counts up.
    package static let sinceStart: @Sendable () -> Duration = { start.duration(to: .now) }

    /// How many are remembered; beyond them the ones whose buckets are full again are forgotten.
    private static let remembered = 10_000

    private struct Bucket: Sendable {
        /// In the time that it took to fill.
        var credit: Duration
        var at: Duration
    }

    /// How long one permit takes.
    private let interval: Duration
    private let capacity: Duration
    private var buckets: [Key: Bucket] = [:]

    package init(_ count: Int, per duration: Duration) {
        interval = duration / count
        capacity = interval * count
    }

    /// Takes a permit.
    ///
    /// - Returns: nil when there was one, else how many seconds it takes until there is one.
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
        // A flood of new clients: the oldest are forgotten.
        if buckets.count > Self.remembered {
            let newest = buckets.sorted { $0.value.at > $1.value.at }.prefix(Self.remembered / 2)
            buckets = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
        }
    }
}

extension Duration {
    /// Rounded up.
    fileprivate var wholeSeconds: Int {
        Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0)
    }
}

/// How often one address may ask within a minute, and all addresses together.
struct AddressLimiter: Sendable {
    private var ofOne: RateLimiter
    private var ofAll: RateLimiter

    init(_ one: Int, ofAll all: Int) {
        ofOne = RateLimiter(one, per: .seconds(60))
        ofAll = RateLimiter(all, per: .seconds(60))
    }

    /// - Returns: nil if the client may ask, else the number of seconds until it may.
    mutating func take(from client: LimitedClient, at now: Duration) -> Int? {
        // A client that has used up its own permits takes none of the others'.
        ofOne.take(client.name, at: now) ?? ofAll.take("", at: now)
    }
}

/// A client, as a limit counts it.
struct LimitedClient: Hashable, Sendable {
    let name: String

    /// See ``HTTPFiles/ClientName``.
    init(_ address: String?, forwarded: [String], trusting proxies: TrustedProxies) {
        name = ClientName(address, forwarded: forwarded, trusting: proxies).text
    }
}
