package import PatchFormat

/// The device's state for open pages: the snapshot at the start of an event stream, and the changes by each event.
package struct PageState: Equatable, Sendable {
    package enum Sync: Equatable, Sendable {
        case idle
        /// The progress in percent, from 0 to 100.
        case running(percent: Int)
        case failed(String)

        var json: JSON {
            switch self {
            case .idle: .fields([("phase", .text("idle"))])
            case .running(let percent): .fields([("phase", .text("running")), ("percent", .integer(percent))])
            case .failed(let message): .fields([("phase", .text("failed")), ("message", .text(message))])
            }
        }
    }

    /// The version of the bundle that new pages receive, and that of the pending one.
    package private(set) var current: String?
    package private(set) var pending: String?
    package private(set) var sync = Sync.idle
    /// The tag of the online parameters, or nil if there are none.
    package private(set) var parameters: String?

    /// Applies an event.
    ///
    /// Returns whether it is new: progress only increases, and no event is reported twice.
    mutating func take(_ event: PageEvent) -> Bool {
        let before = self
        switch event {
        case .checking:
            if case .running = sync { return false }
            sync = .running(percent: 0)
        case .progress(let percent):
            guard case .running(let shown) = sync, percent > shown else { return false }
            sync = .running(percent: min(percent, 100))
        case .checked: sync = .idle
        case .failed(let message): sync = .failed(message)
        case .ready(let version): pending = version
        case .switched(let version):
            // The new active version was pending, or replaced the previous one.
            if current != version || pending == version { pending = nil }
            current = version
        case .parameters(let tag): parameters = tag
        case .reload, .page: return true
        }
        return self != before || event.isAlwaysSent
    }

    /// - Parameter releases: The stamps of the selections that are served now.
    func json(_ releases: [ReleaseStamp]) -> JSON {
        .fields([
            ("current", current.map { .text($0) } ?? .null), ("pending", pending.map { .text($0) } ?? .null),
            ("releases", .array(releases.map { .text($0.text) })), ("sync", sync.json),
            ("parameters", parameters.map { .text($0) }),
        ])
    }
}

/// An event for open pages.
package enum PageEvent: Equatable, Sendable {
    /// A sync began.
    case checking
    /// The percentage of this sync's bytes.
    case progress(Int)
    /// The sync succeeded. `isNew` is true if a new version was downloaded.
    case checked(isNew: Bool)
    /// The sync failed, with the error in words.
    case failed(String)
    /// A new version is downloaded and pending.
    case ready(version: String?)
    /// New pages receive this version from now on.
    case switched(version: String?)
    /// The online parameters changed. Contains their tag, or nil if there are none.
    case parameters(tag: String?)
    /// A version that does not wait for a reload has started. Every page must reload.
    case reload
    /// A page that was shown from the stored copy has changed. The page requests the changes with the name of its visit.
    case page(target: String, visit: String, code: Int)

    var isAlwaysSent: Bool {
        switch self {
        case .checked, .failed, .reload, .page: true
        case .checking, .progress, .ready, .switched, .parameters: false
        }
    }

    /// Whether reconnecting pages receive the event.
    ///
    /// Page-specific events are not replayed: another user may be signed in.
    var isForReturning: Bool { if case .page = self { false } else { true } }

    package var name: String {
        switch self {
        case .checking: "checking"
        case .progress: "progress"
        case .checked: "checked"
        case .failed: "failed"
        case .ready: "ready"
        case .switched: "switched"
        case .parameters: "parameters"
        case .reload: "reload"
        case .page: "page"
        }
    }

    package var json: JSON {
        switch self {
        case .checking, .reload: .fields([])
        case .progress(let percent): .fields([("percent", .integer(percent))])
        case .checked(let isNew): .fields([("isNew", .bool(isNew))])
        case .failed(let message): .fields([("message", .text(message))])
        case .ready(let version), .switched(let version):
            .fields([("version", version.map { .text($0) } ?? .null)])
        case .page(let target, let visit, let code):
            .fields([("path", .text(target)), ("visit", .text(visit)), ("code", .integer(code))])
        case .parameters(let tag): .fields([("tag", tag.map { .text($0) } ?? .null)])
        }
    }
}
