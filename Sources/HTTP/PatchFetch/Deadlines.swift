/// How long a device waits and how often it tries, in one place.
package struct Deadlines: Equatable, Sendable {
    /// One metadata role, list or manifest, each time that it is asked for.
    package var document = Duration.seconds(60)
    /// One object from one server, all tries together: at least this, and a second for every 10,000 bytes.
    package var object = Duration.seconds(120)
    /// A connection and its TLS handshake.
    package var connect = Duration.seconds(10)
    /// How long a server may send nothing.
    package var stall = Duration.seconds(30)
    /// How often more a request is made after failures of the network, without one byte of progress in between.
    package var retries = 4
    /// The longest `Retry-After` that is heeded.
    package var retryAfter = Duration.seconds(60)
    /// A whole sync; nil for no end.
    package var sync: Duration? = .seconds(6 * 3_600)
    /// While objects travel: how often the channel is asked for a newer list; nil for never.
    package var newerList: Duration? = .seconds(60)
    /// How often in one sync a newer list stops the download of an older one.
    package var newerLists = 3

    /// The most bytes a second, of all requests together; nil for no limit.
    package var rate: Int?

    /// Below this a sync would hardly come to an end.
    package static let leastRate = 1_000

    package init() {}

    package func object(of size: Int) -> Duration {
        // An object's share of the rate, and half of that again for those that come beside it.
        let slowest = min(10_000, rate.map { $0 / (2 * HTTPFetcher.connections) } ?? .max)
        return max(object, .seconds(size / max(1, slowest)))
    }

    /// How long nothing may be read: with a rate, a connection also stands still while others have their turn.
    package var reading: Duration {
        stall + (rate.map { .seconds(HTTPFetcher.connections * Self.piece / $0) } ?? .zero)
    }

    /// What a connection hands over at once, at most, in bytes.
    private static let piece = 1 << 17
}
