import PageDiff
import PatchFormat

/// Whether a page is stored after a response, and the outcome that is reported to it.
struct PageVerdict: Sendable {
    enum Keeping: Sendable {
        /// The stored page is unchanged and is not written again.
        case asItIs
        case replace(SplitPage)
        case drop
        /// The page is dropped. For six hours, requests pass unchanged.
        case switchOff
    }

    let keeping: Keeping
    let result: PageResult

    /// - Parameters:
    ///   - shown: The page that was shown while the server was asked, or nil if its server sent the page.
    ///   - isOthers: Whether the response is for another account.
    init(_ outcome: PageOutcome, _ reply: PageReply, shown: SplitPage?, isOthers: Bool) {
        let offline = reply.cacheOffline ?? .keepAndRefresh
        if isOthers {
            keeping = .drop
            result = PageResult(
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
        result = PageResult(outcome, reply, page: page, shown: shown, offline: offline)
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
