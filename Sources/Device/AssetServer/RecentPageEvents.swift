/// The last events of each kind, for pages that come back and for reports.
///
/// Of a sync's progress only the last percent is kept: a large download must not push out the failure before it.
struct RecentPageEvents: Sendable {
    /// Events kept of each kind.
    static let limit = 16

    /// In the order in which they happened.
    private(set) var events: [(number: Int, event: PageEvent)] = []

    mutating func add(_ event: PageEvent, number: Int) {
        if case .progress = event, let last = events.lastIndex(where: { $0.event.isOfSync }),
            case .progress = events[last].event
        {
            events.remove(at: last)
        }
        events.append((number, event))
        let same = events.indices.filter { events[$0].event.name == event.name }
        if same.count > Self.limit { events.remove(at: same[0]) }
    }
}

extension PageEvent {
    /// Whether it begins, continues or ends a sync.
    fileprivate var isOfSync: Bool {
        switch self {
        case .checking, .progress, .checked, .failed: true
        case .ready, .switched, .parameters, .reload, .page: false
        }
    }
}
