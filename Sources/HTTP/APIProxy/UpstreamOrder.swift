import NIOConcurrencyHelpers

/// The order in which a rule's upstreams are tried: the rule's order, with recently unreachable ones last.
final class UpstreamOrder: Sendable {
    /// How long an unreachable upstream is tried last.
    static let penalty = Duration.seconds(10)

    private let missing = NIOLockedValueBox<[Upstream: ContinuousClock.Instant]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.now = now
    }

    func order(_ upstreams: [Upstream]) -> [Upstream] {
        let now = now()
        let missing = missing.withLockedValue { $0.filter { now < $0.value } }
        return upstreams.filter { missing[$0] == nil } + upstreams.filter { missing[$0] != nil }
    }

    func isMissing(_ upstream: Upstream) {
        let end = now() + Self.penalty
        missing.withLockedValue { $0[upstream] = end }
    }

    func markAvailable(_ upstream: Upstream) {
        missing.withLockedValue { _ = $0.removeValue(forKey: upstream) }
    }
}
