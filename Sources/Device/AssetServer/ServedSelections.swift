import PatchFormat

/// The served selection, and the previous one for the pages loaded from it: one release per page.
///
/// A new page always receives the current selection. Other requests receive the selection of their page, by the Referer. Without a
/// Referer, the previous selection answers only for files that it alone contains. It is removed a minute after its last response
/// has ended.
///
/// If no page was requested under a Referer, the Referer is a client-side route of an open page. Before any page was loaded from
/// the current selection, that page can only be an old one. A style sheet or script loaded before the switch belongs to the
/// previous selection if only that contains its bytes. If two open pages have the same URL, the one loaded last counts.
struct ServedSelections: Sendable {
    /// How long the previous selection stays after its last response has ended.
    static let grace = Duration.seconds(60)

    /// The selection that answers one request.
    struct Route: Sendable {
        let selection: ServedSelection
        let isPrevious: Bool
        /// Whether the requesting page is of another release than the response.
        ///
        /// No cache may store it under this URL.
        let isForeign: Bool
        /// The facts of the request to remember once the response is used; nil for none.
        let note: Note?
    }

    /// A request whose response is used, and the selection that answers it.
    struct Note: Sendable {
        fileprivate let address: PageRequest.Address
        fileprivate let purpose: PageRequest.Purpose
        /// The bundle of the answering selection.
        let bundle: SHA256Digest
        fileprivate let isPrevious: Bool
    }

    private struct Previous {
        let selection: ServedSelection
        let bundle: SHA256Digest
        /// When another selection replaced it.
        let until: Duration
        var responses = 0
        var idleSince: Duration
    }

    private(set) var current = ServedSelection.nothing
    private var previous: Previous?
    private var pages = RecentPages()
    /// Whether any page was loaded from the current selection.
    private var hasNewPage = false
    /// The selection of the last document without a stamp that was sent to a browser to be shown.
    private var unstamped: ReleaseStamp?
    /// The versions of the recently served stamps.
    private var versions: [(stamp: ReleaseStamp, version: String)] = []
    private static let mostVersions = 32

    /// Whether requests need more than the current selection; false most of the time.
    var hasPrevious: Bool { previous != nil }

    /// Whether any page was loaded.
    var hasPages: Bool { !pages.isEmpty }

    /// Returns the shortest time until the previous selection can be removed; nil without one.
    func previousLasts(at now: Duration) -> Duration? {
        previous.map { $0.responses > 0 ? Self.grace : max(.zero, Self.grace - (now - $0.idleSince)) }
    }

    mutating func serve(_ selection: ServedSelection, at now: Duration) {
        let (old, new) = (current.table?.bundle, selection.table?.bundle)
        if new == nil {
            // No version may run any more: it was withdrawn, or cannot be used because of damage.
            previous = nil
        } else if let old, old != new {
            previous = Previous(selection: current, bundle: old, until: now, idleSince: now)
            hasNewPage = false
        }
        current = selection
        guard let stamp = selection.stamp, let version = selection.version else { return }
        versions.removeAll { $0.stamp == stamp }
        versions = versions.suffix(Self.mostVersions - 1) + [(stamp, version)]
    }

    // MARK: Stamps

    /// Returns the stamps of the selections that answer now, the current one first.
    func stamps(at now: Duration) -> [ReleaseStamp] {
        [current.stamp, livePrevious(at: now)?.selection.stamp].compactMap(\.self)
    }

    /// Returns the previous selection while it is retained, and when it was replaced.
    func replaced(at now: Duration) -> (selection: ServedSelection, until: Duration)? {
        livePrevious(at: now).map { ($0.selection, $0.until) }
    }

    /// Returns the selection with this stamp, if its pages are still served.
    func selection(of stamp: ReleaseStamp, at now: Duration) -> ServedSelection? {
        if current.stamp == stamp { return current }
        return livePrevious(at: now).map(\.selection).flatMap { $0.stamp == stamp ? $0 : nil }
    }

    /// Returns the version with this stamp, if it was served recently.
    func version(of stamp: ReleaseStamp) -> String? { versions.last { $0.stamp == stamp }?.version }

    /// Records that a document of this selection without a stamp is sent to a browser to be shown.
    mutating func sendsUnstamped(_ stamp: ReleaseStamp) { unstamped = stamp }

    /// Whether a page without a stamp may belong to the current selection.
    var hasUnstampedPage: Bool { unstamped != nil && unstamped == current.stamp }

    // MARK: Pages

    /// Records that pages of this launch do not have to wait any more.
    mutating func opened(_ launch: String) {
        if current.launch == launch { current.awaitsPage = false }
    }

    /// Chooses the selection that answers.
    ///
    /// Call ``note(_:at:)`` when the response is used.
    func choose(_ request: PageRequest, at now: Duration) -> Route {
        guard let table = current.table else {
            return Route(selection: current, isPrevious: false, isForeign: false, note: nil)
        }
        let page = request.referrer.flatMap { pages[$0] }
        guard let previous = livePrevious(at: now), isForPrevious(request, of: page, previous, table) else {
            // A new page does not belong to another page.
            let isForeign = request.purpose != .document && page.map { $0 != table.bundle } ?? false
            // A previous selection must be checked again, and pages are remembered.
            let isNoted = self.previous != nil || request.isPage
            return Route(
                selection: current,
                isPrevious: false,
                isForeign: isForeign,
                note: isNoted ? Note(request, table.bundle, isPrevious: false) : nil
            )
        }
        return Route(
            selection: previous.selection,
            isPrevious: true,
            isForeign: page.map { $0 != previous.bundle } ?? false,
            note: Note(request, previous.bundle, isPrevious: true)
        )
    }

    /// Remembers a request whose response is used.
    ///
    /// - Returns: Whether the response is of the previous selection. The caller must then call ``responseEnded(of:at:)``.
    mutating func note(_ note: Note, at now: Duration) -> Bool {
        forgetPrevious(at: now)
        // Another selection may have been served in the meantime.
        let isOfCurrent = note.bundle == current.table?.bundle
        if note.purpose == .document, isOfCurrent { hasNewPage = true }
        remember(note)
        guard note.isPrevious, previous?.bundle == note.bundle else { return false }
        previous?.responses += 1
        return true
    }

    mutating func responseEnded(of bundle: SHA256Digest?, at now: Duration) {
        guard previous?.bundle == bundle else { return }
        previous?.responses -= 1
        previous?.idleSince = now
    }

    mutating func forgetPrevious(at now: Duration) {
        previous = livePrevious(at: now)
    }

    /// Returns the previous selection, or nil once its time is over.
    private func livePrevious(at now: Duration) -> Previous? {
        guard let previous, previous.responses > 0 || now - previous.idleSince < Self.grace else { return nil }
        return previous
    }

    private func isForPrevious(
        _ request: PageRequest,
        of page: SHA256Digest?,
        _ previous: Previous,
        _ table: AssetTable
    ) -> Bool {
        switch request.purpose {
        case .document, .serviceWorker: return false
        case .frame, .referrer, .other: break
        }
        if let page, page == previous.bundle || page == table.bundle { return page == previous.bundle }
        let old = previous.selection.table
        let isOnlyInPrevious =
            old?.asset(at: request.address.path) != nil && table.asset(at: request.address.path) == nil
        guard page == nil, let referrer = request.referrer else { return isOnlyInPrevious }
        if !hasNewPage { return true }
        let (before, after) = (old?.asset(at: referrer.path), table.asset(at: referrer.path))
        return isOnlyInPrevious || before != nil && before?.sha256 != after?.sha256
    }

    /// Remembers every page, and other requests only while there are two selections.
    private mutating func remember(_ note: Note) {
        switch note.purpose {
        case .document, .frame: pages[note.address] = note.bundle
        case .referrer, .serviceWorker: if previous != nil { pages[note.address] = note.bundle }
        case .other: break
        }
    }
}

extension ServedSelections.Note {
    fileprivate init(_ request: PageRequest, _ bundle: SHA256Digest, isPrevious: Bool) {
        self.init(address: request.address, purpose: request.purpose, bundle: bundle, isPrevious: isPrevious)
    }
}

extension ServedSelections {
    /// - Parameter now: The time when the report arrived.
    func verdict(on document: ShownDocument, at now: Duration) -> ShownVerdict {
        if document.page == current.stamp { return .current }
        guard let (selection, until) = replaced(at: now), document.page == selection.stamp else { return .stale }
        // There is no tolerance: otherwise a page would stay that reloads right after the switch and receives the old document from
        // a worker. A page that was requested just before the switch is loaded once more at worst.
        return now - document.age <= until ? .previous : .stale
    }
}

/// The bundles of recently loaded pages by address, a few hundred at most.
struct RecentPages: Sendable {
    static let limit = 512
    /// The longest address that is remembered, in bytes.
    static let addressLimit = 2_048

    private var bundles: [PageRequest.Address: (bundle: SHA256Digest, turn: Int)] = [:]
    private var turn = 0

    var isEmpty: Bool { bundles.isEmpty }

    subscript(address: PageRequest.Address) -> SHA256Digest? {
        get { bundles[address]?.bundle }
        set {
            guard let newValue, address.path.utf8.count + (address.query?.utf8.count ?? 0) <= Self.addressLimit
            else { return }
            turn += 1
            bundles[address] = (newValue, turn)
            if bundles.count > Self.limit { forgetOldest() }
        }
    }

    /// Removes a quarter of the entries at once, so that not every new page causes a sort.
    private mutating func forgetOldest() {
        let turns = bundles.values.map(\.turn).sorted()
        let oldest = turns[turns.count / 4]
        bundles = bundles.filter { $0.value.turn > oldest }
    }
}
