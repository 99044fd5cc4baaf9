package import PatchFormat

/// The device's state for open pages: the snapshot at the start of an event stream, and the changes by each event.
package struct PageState: Equatable, Sendable {
    package enum Sync: Equatable, Sendable {
        case idle
        /// Percent, from 0 to 100.
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

    /// The versions of the bundle that new pages get, and of the pending one.
    package private(set) var current: String?
    package private(set) var pending: String?
    package private(set) var sync = Sync.idle
    /// The tag of the online parameters; nil without any.
    package private(set) var parameters: String?

    /// Whether the event is news: progress only grows, and no event is reported twice.
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
            // The pending version was chosen over the one that ran before.
            if current != version || pending == version { pending = nil }
            current = version
        case .parameters(let tag): parameters = tag
        case .reload, .page: return true
        }
        return self != before || event.isAlwaysTold
    }

    /// - Parameter releases: the stamps of the selections that are served now.
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
    /// Percent of the bytes of this sync.
    case progress(Int)
    /// The sync is over; whether something new came.
    case checked(isNew: Bool)
    /// In words.
    case failed(String)
    /// A new version is here and pending.
    case ready(version: String?)
    /// New pages get this version from now on.
    case switched(version: String?)
    /// The online parameters changed; their tag, nil without any.
    case parameters(tag: String?)
    /// A version that does not wait has started: every page must reload.
    case reload
    /// A page that was shown as it was kept has changed since; what changed is asked for by the name of its visit.
    case page(target: String, visit: String, code: Int)

    var isAlwaysTold: Bool {
        switch self {
        case .checked, .failed, .reload, .page: true
        case .checking, .progress, .ready, .switched, .parameters: false
        }
    }

    /// Whether pages that come back are told of it: not of somebody's page, for another may be signed in by then.
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
