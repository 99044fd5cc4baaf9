/// How much making of differences a server takes on: whoever names what nobody named before has one made.
struct DifferenceRoom {
    /// Bytes of files that are read and compressed in a second, and in the first moment.
    private static let (rate, most) = (1_048_576, 8_388_608)
    private static let atOnce = 2
    /// A try that comes to nothing has read something too.
    static let least = 65_536

    private var left = most
    private var filled: ContinuousClock.Instant
    private var running = 0

    init(at now: ContinuousClock.Instant) { filled = now }

    /// Whether one more may be made now; who is let in calls ``end(spending:)``.
    mutating func begin(at now: ContinuousClock.Instant) -> Bool {
        let (seconds, fraction) = (now - filled).components
        let more = Int(min(seconds, 60)) * Self.rate + Int(fraction / 1_000_000_000) * Self.rate / 1_000_000_000
        if more > 0 { (left, filled) = (min(Self.most, left + more), now) }
        guard running < Self.atOnce, left > 0 else { return false }
        running += 1
        return true
    }

    mutating func end(spending bytes: Int) {
        running -= 1
        left -= max(bytes, Self.least)
    }
}
