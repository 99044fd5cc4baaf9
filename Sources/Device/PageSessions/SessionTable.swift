import PageDiff
import PatchFormat

/// The pages in memory and the requests in progress.
///
/// Decides on the next visit of a page.
struct SessionTable {
    /// The state of a page on disk.
    enum Found {
        case nothing
        case page(KeptPage)
        /// Requests pass unchanged until this time.
        case switchedOff(until: UTCTime)
    }

    enum Step {
        /// The request passes as it does without a rule's `pages`.
        case pass
        /// The disk must be read first.
        case look
        /// A request for the page is in progress.
        case join(PageRun)
        case start(PageRun)
    }

    /// The number of finished visits whose outcomes are kept.
    private static let maxRecent = 128
    private static let maxLate = 64
    private static let maxPreloading = 256
    private static let maxSwitchedOff = 1_000
    /// The maximum for one session.
    private static let maxCookies = 50

    private var running: [PageSession: PageRun] = [:]
    /// The pages in memory, the last used at the end.
    private var memory: [(session: PageSession, account: String?, page: KeptPage)] = []
    /// Preloaded pages that were not opened yet, oldest first.
    private var unopened: [(run: PageRun, page: KeptPage?)] = []
    /// Finished visits without their pages, the last one at the end.
    private var recent: [PageRun.Visit] = []
    private var switchedOff: [PageSession: UTCTime] = [:]
    /// Pages whose next visit passes, because their server was overloaded.
    private var overloaded: Set<PageSession> = []
    /// Cookies that wait for their page, oldest first.
    private var late: [Late] = []
    /// The accounts and rules whose preloads have started, which happens once.
    private var preloading: Set<PreloadKey> = []

    /// Visits in progress of accounts that have signed out.
    private var ended: Set<ObjectIdentifier> = []

    /// Cookies of a response that arrived after its page was shown.
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
    ///   - found: The state on disk, or nil if it was not read.
    ///   - name: The name of the visit if it starts a request.
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

    /// Starts preloading a page.
    ///
    /// Nil if a request is in progress, the page is in memory, or there are too many preloads.
    mutating func preload(_ place: PagePlace, found: Found, name: String, at now: UTCTime) -> PageRun? {
        let isAvailable = unopened.contains { $0.run.place.session == place.session }
        guard !isAvailable, running[place.session] == nil, unopened.count < PageLimits.preloads else { return nil }
        guard case .start(let run) = meet(place, found: found, name: name, at: now) else { return nil }
        unopened.append((run, nil))
        return run
    }

    /// Whether the preloads of this key should start.
    ///
    /// True once, as far as the table remembers.
    mutating func beginsPreloads(_ key: PreloadKey) -> Bool {
        if preloading.count >= Self.maxPreloading, !preloading.contains(key) { preloading = [] }
        return preloading.insert(key).inserted
    }

    mutating func forgetUnopened(_ run: PageRun) { unopened.removeAll { $0.run === run } }

    /// - Parameter cookies: Cookies that the page has not received.
    mutating func finish(_ run: PageRun, _ page: KeptPage?, cookies: [String], at now: UTCTime) {
        let session = run.place.session
        // A request that took too long was already ended.
        guard running[session] === run else { return }
        running[session] = nil
        ended.remove(ObjectIdentifier(run))
        memory.removeAll { $0.session == session }
        // Preloaded pages that were not opened have their own list.
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

    /// Drops everything of an account, including the pages of requests in progress.
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

    /// Removes and returns the waiting cookies of a page: all of its account, or without accounts those of the named visit.
    mutating func takeLate(_ session: PageSession, visit name: String?, at now: UTCTime) -> [String] {
        func isTheirs(_ late: Late) -> Bool {
            late.visit.session == session && now < late.until && (late.account != nil || late.visit.name == name)
        }
        defer { late.removeAll(where: isTheirs) }
        return late.filter(isTheirs).flatMap(\.cookies)
    }

    /// A visit of this page and account.
    ///
    /// - Parameter name: The visit's name, or nil for the last one.
    func visit(_ name: String?, of session: PageSession) -> PageRun.Visit? {
        let known = recent + (running[session].map { [$0.visit] } ?? [])
        return known.last { $0.session == session && (name == nil || $0.name == name) }
    }

    var pagesUnopened: Int { unopened.count }
}
