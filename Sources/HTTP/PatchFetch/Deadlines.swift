/// All time limits and retry counts of a device.
package struct Deadlines: Equatable, Sendable {
    /// The time for each request for one metadata role, list or manifest.
    package var document = Duration.seconds(60)
    /// The time for one object from one server, all tries together: at least this, and a second for every 10,000 bytes.
    package var object = Duration.seconds(120)
    /// The time for a connection and its TLS handshake.
    package var connect = Duration.seconds(10)
    /// How long a server may send nothing.
    package var stall = Duration.seconds(30)
    /// How often a request is repeated after network failures without a byte of progress in between.
    package var retries = 4
    /// The longest `Retry-After` that is respected.
    package var retryAfter = Duration.seconds(60)
    /// The time for a whole sync.
    ///
    /// Nil means no limit.
    package var sync: Duration? = .seconds(6 * 3_600)
    /// The interval at which the channel is checked for a newer list while objects are downloaded.
    ///
    /// Nil means never.
    package var newerList: Duration? = .seconds(60)
    /// How often in one sync a newer list may stop the download of an older one.
    package var newerLists = 3

    /// The most bytes per second, all requests together.
    ///
    /// Nil means no limit.
    package var rate: Int?

    /// The lowest allowed rate.
    ///
    /// Below it, a sync would hardly finish.
    package static let leastRate = 1_000

    package init() {}

    package func object(of size: Int) -> Duration {
        // The object's share of the rate, halved because others are downloaded beside it.
        let slowest = min(10_000, rate.map { $0 / (2 * HTTPFetcher.connections) } ?? .max)
        return max(object, .seconds(size / max(1, slowest)))
    }

    /// How long a read may take.
    ///
    /// With a rate, a connection also pauses while others have their turn.
    package var reading: Duration {
        stall + (rate.map { .seconds(HTTPFetcher.connections * Self.piece / $0) } ?? .zero)
    }

    /// The most bytes that a connection delivers at once.
    private static let piece = 1 << 17
}
