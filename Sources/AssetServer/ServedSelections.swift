import PatchFormat

/// The selection that is served, and the one before it for the pages that were loaded from that: one release per page.
///
/// A new page always gets the current selection. What a page asks for comes from the selection that the page came from,
/// which is read off the Referer; without one, from the previous selection only what stands there alone. The previous
/// selection goes a minute after its last response has ended.
///
/// A Referer under which no page was asked for is a client-side route, set by a page that is open: before any page was
/// loaded from the current selection it can only be an old one. A style sheet or script that was loaded before the
/// switch belongs to the previous selection where its bytes are of that one alone. Where two open pages have one URL,
/// the one loaded last counts.
struct ServedSelections: Sendable {
    /// How long the previous selection stays once nothing of it is on its way.
    static let grace = Duration.seconds(60)

    /// Where one request goes.
    struct Choice: Sendable {
        let selection: ServedSelection
        /// It comes from the previous selection, and ``ServedSelections/responseEnded(of:at:)`` is owed.
        let isPrevious: Bool
        /// The page that asks came from another release than the answer: nobody may keep it under this URL.
        let isForeign: Bool
    }

    private struct Previous {
        let selection: ServedSelection
        let bundle: SHA256Digest
        var responses = 0
        var idleSince: Duration
    }

    private(set) var current = ServedSelection.nothing
    private var previous: Previous?
    private var pages = RecentPages()
    /// Whether a page was loaded from the current selection since it is current.
    private var hasNewPage = false

    /// Whether requests need more than the current selection; false most of the time.
    var hasPrevious: Bool { previous != nil }

    mutating func serve(_ selection: ServedSelection, at now: Duration) {
        let (old, new) = (current.table?.bundle, selection.table?.bundle)
        if new == nil {
            // Nothing may run any more: it was withdrawn, or is damaged beyond use.
            previous = nil
        } else if let old, old != new {
            previous = Previous(selection: current, bundle: old, idleSince: now)
            hasNewPage = false
        }
        current = selection
    }

    /// Pages of this launch need not wait any more.
    mutating func opened(_ launch: String) {
        if current.launch == launch { current.awaitsPage = false }
    }

    mutating func choose(_ request: PageRequest, at now: Duration) -> Choice {
        forgetPrevious(at: now)
        guard let table = current.table else {
            return Choice(selection: current, isPrevious: false, isForeign: false)
        }
        let page = request.referrer.flatMap { pages[$0] }
        if request.purpose == .document { hasNewPage = true }
        guard let previous, isForPrevious(request, of: page, previous, table) else {
            remember(request, table.bundle)
            // A new page is nobody's file.
            let isForeign = request.purpose != .document && page.map { $0 != table.bundle } ?? false
            return Choice(selection: current, isPrevious: false, isForeign: isForeign)
        }
        remember(request, previous.bundle)
        self.previous?.responses += 1
        let isForeign = page.map { $0 != previous.bundle } ?? false
        return Choice(selection: previous.selection, isPrevious: true, isForeign: isForeign)
    }

    mutating func responseEnded(of bundle: SHA256Digest?, at now: Duration) {
        guard previous?.bundle == bundle else { return }
        previous?.responses -= 1
        previous?.idleSince = now
    }

    mutating func forgetPrevious(at now: Duration) {
        if let previous, previous.responses <= 0, now - previous.idleSince >= Self.grace { self.previous = nil }
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
        let isOnlyThere = old?.asset(at: request.address.path) != nil && table.asset(at: request.address.path) == nil
        guard page == nil, let referrer = request.referrer else { return isOnlyThere }
        if !hasNewPage { return true }
        let (before, after) = (old?.asset(at: referrer.path), table.asset(at: referrer.path))
        return isOnlyThere || before != nil && before?.sha256 != after?.sha256
    }

    /// Pages always; what else may ask for more only while there are two selections to tell apart.
    private mutating func remember(_ request: PageRequest, _ bundle: SHA256Digest) {
        switch request.purpose {
        case .document, .frame: pages[request.address] = bundle
        case .referrer, .serviceWorker: if previous != nil { pages[request.address] = bundle }
        case .other: break
        }
    }
}

/// From which bundle the pages came that were loaded last: a few hundred, by their addresses.
struct RecentPages: Sendable {
    static let limit = 512
    /// Longer addresses are not remembered, in bytes.
    static let addressLimit = 2_048

    private var bundles: [PageRequest.Address: (bundle: SHA256Digest, turn: Int)] = [:]
    private var turn = 0

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

    /// A quarter at a time, so that a client that asks for ever new pages does not sort at each of them.
    private mutating func forgetOldest() {
        let turns = bundles.values.map(\.turn).sorted()
        let oldest = turns[turns.count / 4]
        bundles = bundles.filter { $0.value.turn > oldest }
    }
}
