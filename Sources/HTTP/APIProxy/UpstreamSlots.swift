import HTTPFiles
import NIOConcurrencyHelpers

/// The slots for simultaneous requests to each upstream, shared among clients.
final class UpstreamSlots: Sendable {
    /// The client that a request counts for.
    enum Client: Hashable, Sendable {
        /// In front of a site: the client's address.
        case address(ClientName)
        /// On a device, which has one client: the requested path, so that one slow path does not block the others.
        case path(String)
    }

    /// A request's slot.
    ///
    /// It is free again after ``end()``, or when the last reference to it is gone.
    final class Slot: Sendable {
        private let slots: UpstreamSlots
        private let upstream: Upstream
        private let slot: SharedSlots<Client>.Slot

        fileprivate init(_ slots: UpstreamSlots, _ upstream: Upstream, _ slot: SharedSlots<Client>.Slot) {
            (self.slots, self.upstream, self.slot) = (slots, upstream, slot)
        }

        deinit { end() }

        func end() {
            slots.state.withLockedValue { $0.pools[upstream.origin]?.release(slot) }
        }

        /// - Throws: `tooManyStreams` if endless answers have no room. The caller drops the answer.
        func becomesEndless() throws(UpstreamFault) {
            let fits = slots.state.withLockedValue { $0.pools[upstream.origin]?.becomesEndless(slot) ?? true }
            guard fits else {
                slots.reportRefusal(by: upstream)
                throw .tooManyStreams
            }
        }

        func isNotEndless() {
            slots.state.withLockedValue { $0.pools[upstream.origin]?.isNotEndless(slot) }
        }
    }

    private struct State {
        var pools: [String: SharedSlots<Client>] = [:]
        var refusals = RefusalTally()
    }

    private let limit: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let report: @Sendable (String) -> Void
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - limit: The most requests at a time to one upstream.
    ///   - report: Called with a line about refused requests, at most once a minute.
    init(
        limit: Int,
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        report: @escaping @Sendable (String) -> Void
    ) {
        (self.limit, self.now, self.report) = (limit, now, report)
    }

    /// - Parameter isEndless: Whether the request accepts only an endless answer.
    /// - Throws: `busy`, or `tooManyStreams` if endless answers have no room.
    func take(_ upstream: Upstream, for client: Client, isEndless: Bool) throws(UpstreamFault) -> Slot {
        let time = now()
        let slot = state.withLockedValue { state in
            state.pools[upstream.origin, default: SharedSlots(CapacityRule(limit: limit))].take(for: client, at: time)
        }
        guard let slot else {
            reportRefusal(by: upstream)
            throw .busy
        }
        let taken = Slot(self, upstream, slot)
        // Checked first, so that the upstream is not asked for a stream that would be dropped at its head.
        if isEndless { try taken.becomesEndless() }
        return taken
    }

    private func reportRefusal(by upstream: Upstream) {
        let time = now()
        guard let refused = state.withLockedValue({ $0.refusals.add(at: time) }) else { return }
        let requests = refused == 1 ? "1 request" : "\(refused) requests"
        report("\(upstream.origin): \(requests) refused with 503: too many requests at a time")
    }
}

/// Counts refused requests, so that a flood makes one line a minute.
struct RefusalTally: Equatable, Sendable {
    static let interval = Duration.seconds(60)

    private var untold = 0
    private var lastLine: ContinuousClock.Instant?

    /// Returns the number of refusals to report now, or nil if the last line is too recent.
    mutating func add(at now: ContinuousClock.Instant) -> Int? {
        untold += 1
        if let lastLine, lastLine.duration(to: now) < Self.interval { return nil }
        lastLine = now
        defer { untold = 0 }
        return untold
    }
}
