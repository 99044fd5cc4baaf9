import PageDiff
import PatchFormat

/// What is known of pages in memory, and what is done with the next visit.
struct SessionTable {
    /// What there is of a page on disk.
    enum Found {
        case nothing
        case page(KeptPage)
        /// Until then it is asked for as a browser does it.
        case switchedOff(until: UTCTime)
    }

    enum Step {
        /// As without a rule's `pages`.
        case pass
        /// What is on disk has to be known first.
        case look
        /// A request is under way, or has been made just now for nobody else.
        case join(PageRun)
        case start(PageRun)
    }

    /// How many visits are known that are over.
    private static let maxRecent = 128
    private static let maxLate = 64
    private static let maxPreloading = 256
    private static let maxSwitchedOff = 1_000
    /// Of one session.
    private static let maxCookies = 50

    private var running: [PageSession: PageRun] = [:]
    /// The last used at the end.
    private var memory: [(session: PageSession, account: String?, page: KeptPage)] = []
    /// Asked for before anybody opened them; the oldest first.
    private var unopened: [(run: PageRun, page: KeptPage?)] = []
    /// Visits that are over, the last one at the end: without their pages.
    private var recent: [PageRun.Visit] = []
    private var switchedOff: [PageSession: UTCTime] = [:]
    /// Whose next visit passes: their server had too much to do.
    private var overloaded: Set<PageSession> = []
    /// The oldest first.
    private var late: [Late] = []
    /// Whose pages are preloaded: once for each account.
    private var preloading: Set<PreloadKey> = []

    /// Visits under way of accounts that have ended.
    private var ended: Set<ObjectIdentifier> = []

    /// Cookies of an answer whose page was shown before it came.
    private struct Late {
        let visit: PageRun.Visit
        let account: String?
        let cookies: [String]
        let until: UTCTime
    }

    struct PreloadKey: Hashable {
        let pattern: String
        let account: String?
    }

    /// - Parameters:
    ///   - found: nil where nobody has looked.
    ///   - name: of the visit, if it starts a request.
    mutating func meet(_ place: PagePlace, found: Found?, name: String, at now: UTCTime) -> Step {
        let session = place.session
        if overloaded.remove(session) != nil { return .pass }
        if let until = switchedOff[session] {
            if now < until { return .pass }
            switchedOff[session] = nil
        }
        if let run = running[session] {
            forgetUnopened(run)
            return .join(run)
        }
        if let index = unopened.firstIndex(where: { $0.run.place.session == session }) {
            let (run, page) = unopened.remove(at: index)
            if let page { return .start(began(PageRun(name: name, place: run.place, shown: page, at: now))) }
        }
        guard running.count < PageLimits.visits else { return .pass }
        if let page = memory.first(where: { $0.session == session })?.page {
            return .start(began(PageRun(name: name, place: place, shown: page, at: now)))
        }
        switch found {
        case nil: return .look
        case .nothing: return .start(began(PageRun(name: name, place: place, shown: nil, at: now)))
        case .page(let page): return .start(began(PageRun(name: name, place: place, shown: page, at: now)))
        case .switchedOff(let until):
            guard now < until else {
                return .start(began(PageRun(name: name, place: place, shown: nil, at: now)))
            }
            switchOff(session, until: until)
            return .pass
        }
    }

    private mutating func began(_ run: PageRun) -> PageRun {
        running[run.place.session] = run
        return run
    }

    /// Nil where it is under way, or here.
    mutating func preload(_ place: PagePlace, found: Found, name: String, at now: UTCTime) -> PageRun? {
        let isHere = unopened.contains { $0.run.place.session == place.session }
        guard !isHere, running[place.session] == nil, unopened.count < PageLimits.preloads else { return nil }
        guard case .start(let run) = meet(place, found: found, name: name, at: now) else { return nil }
        unopened.append((run, nil))
        return run
    }

    /// Whether this account's pages are to be preloaded; once, as far as is remembered.
    mutating func beginsPreloads(_ key: PreloadKey) -> Bool {
        if preloading.count >= Self.maxPreloading, !preloading.contains(key) { preloading = [] }
        return preloading.insert(key).inserted
    }

    mutating func forgetUnopened(_ run: PageRun) { unopened.removeAll { $0.run === run } }

    /// - Parameter cookies: that its page has not got.
    mutating func finish(_ run: PageRun, _ page: KeptPage?, cookies: [String], at now: UTCTime) {
        let session = run.place.session
        // One that did not end in time is over already.
        guard running[session] === run else { return }
        running[session] = nil
        ended.remove(ObjectIdentifier(run))
        memory.removeAll { $0.session == session }
        // What nobody has opened has a place of its own.
        if let index = unopened.firstIndex(where: { $0.run === run }) {
            unopened[index].page = page
        } else if let page {
            memory.append((session, run.place.account, page))
            if memory.count > PageLimits.pagesInMemory { memory.removeFirst() }
        }
        late.removeAll { $0.until <= now }
        if !cookies.isEmpty {
            let until = now.adding(PageLimits.lateTime)
            let cookies = Array(cookies.suffix(Self.maxCookies))
            late.append(Late(visit: run.visit, account: run.place.account, cookies: cookies, until: until))
            if late.count > Self.maxLate { late.removeFirst() }
        }
        recent.append(run.visit)
        if recent.count > Self.maxRecent { recent.removeFirst() }
    }

    /// Nothing of this account is kept, also of what is under way.
    mutating func end(of account: String) {
        memory.removeAll { $0.account == account }
        unopened.removeAll { $0.run.place.account == account }
        late.removeAll { $0.account == account }
        for run in running.values where run.place.account == account { ended.insert(ObjectIdentifier(run)) }
    }

    func hasEnded(_ run: PageRun) -> Bool { ended.contains(ObjectIdentifier(run)) }

    mutating func forget(visit name: String) { recent.removeAll { $0.name == name } }

    mutating func passesNext(_ session: PageSession) {
        if overloaded.count < Self.maxLate { overloaded.insert(session) }
    }

    mutating func switchOff(_ session: PageSession, until: UTCTime) {
        if switchedOff.count >= Self.maxSwitchedOff { switchedOff = [:] }
        switchedOff[session] = until
    }

    /// The cookies of a page's visits, once: for its account; where a rule knows none, for the visit that asks by its name.
    mutating func takeLate(_ session: PageSession, visit name: String?, at now: UTCTime) -> [String] {
        func isTheirs(_ late: Late) -> Bool {
            late.visit.session == session && now < late.until && (late.account != nil || late.visit.name == name)
        }
        defer { late.removeAll(where: isTheirs) }
        return late.filter(isTheirs).flatMap(\.cookies)
    }

    /// A visit of this page and this account alone.
    ///
    /// - Parameter name: nil for the last one.
    func visit(_ name: String?, of session: PageSession) -> PageRun.Visit? {
        let known = recent + (running[session].map { [$0.visit] } ?? [])
        return known.last { $0.session == session && (name == nil || $0.name == name) }
    }

    var pagesUnopened: Int { unopened.count }
}
