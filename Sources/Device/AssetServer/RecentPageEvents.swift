/// The last events of each kind, for reconnecting pages and for reports.
///
/// Only the last progress of a sync is kept, so that a large download does not displace an earlier failure.
struct RecentPageEvents: Sendable {
    /// The number of events kept of each kind.
    static let limit = 16

    /// The events in order of time.
    private(set) var events: [(number: Int, event: PageEvent)] = []

    mutating func add(_ event: PageEvent, number: Int) {
        if case .progress = event, let last = events.lastIndex(where: { $0.event.isSyncEvent }),
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
    /// Whether the event begins, continues or ends a sync.
    fileprivate var isSyncEvent: Bool {
        switch self {
        case .checking, .progress, .checked, .failed: true
        case .ready, .switched, .parameters, .reload, .page: false
        }
    }
}
