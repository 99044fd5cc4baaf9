import PageDiff
import PatchFormat

/// What is done with what came of a request for a page, and what its page is told.
struct PageVerdict: Sendable {
    enum Keeping: Sendable {
        /// What is kept stays as it is; nothing of it is written again.
        case asItIs
        case replace(SplitPage)
        case drop
        /// Drop it, and ask as a browser does for six hours.
        case switchOff
    }

    let keeping: Keeping
    let told: PageResult

    /// - Parameters:
    ///   - shown: the page that was shown meanwhile; nil for one that came from its server.
    ///   - isOthers: whether the answer is for another account.
    init(_ outcome: PageOutcome, _ reply: PageReply, shown: SplitPage?, isOthers: Bool) {
        let offline = reply.cacheOffline ?? .keepAndRefresh
        if isOthers {
            keeping = .drop
            told = PageResult(
                code: shown == nil ? PageResult.firstLoad : PageResult.templateChange,
                answered: reply.status,
                isReload: shown != nil
            )
            return
        }
        let page: SplitPage?
        switch outcome {
        case .firstLoad(let new), .dataUpdate(let new, _), .templateChange(let new): page = new
        case .notModified: page = shown
        case .plain, .inconsistent, .overloaded: page = nil
        }
        switch outcome {
        case .firstLoad, .dataUpdate, .templateChange, .notModified:
            keeping = Self.keeping(page, offline, isNew: outcome.code != PageResult.notModified)
        case .plain where reply.status >= 500, .overloaded: keeping = .asItIs
        case .plain, .inconsistent: keeping = .drop
        }
        told = PageResult(outcome, reply, page: page, shown: shown, offline: offline)
    }

    private static func keeping(_ page: SplitPage?, _ offline: CacheOffline, isNew: Bool) -> Keeping {
        switch offline {
        case .keepAndRefresh, .keepForLater:
            if isNew, let page { .replace(page) } else { .asItIs }
        case .keepNothing: .drop
        case .switchOff: .switchOff
        }
    }
}
