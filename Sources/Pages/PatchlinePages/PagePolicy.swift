import PageDiff
import PageServing
import PatchFormat

/// How pages under a path are sent.
public struct PagePolicy: Sendable {
    /// What clients of VasSonic do with a page (`cache-offline`).
    public enum Keeping: Sendable {
        /// They keep it, and show what changed.
        case andRefresh
        /// They keep it for the next time.
        case forLater
        /// They show it, and keep none of it.
        case nothing
        /// They ask as browsers do, for six hours.
        case switchedOff
    }

    /// Which pages browsers may use as dictionaries.
    public enum Dictionaries: Sendable {
        case none
        /// Those that were asked for without cookies and credentials, and set no cookie.
        case open
        /// All: none holds a secret together with what somebody else may choose.
        case all
    }

    let route: PageRoute

    /// - Parameters:
    ///   - path: `/news/*`; `*` stands for one name, a closing `**` for any rest.
    ///   - links: URLs that clients are to have before they show a page; at most 100, without blanks and semicolons.
    ///   - tagField: the header field of the page's tag, where something on the way changes `ETag`.
    ///   - unmarked: whether pages without a marker are kept too, as a whole.
    ///   - dictionaryAge: how long a page may be a dictionary, from a second to a year; without it, for as long as its
    ///     `Cache-Control` says.
    /// - Precondition: `path` begins with a slash, `links` and `tagField` are as said.
    public init(
        _ path: String = "/**",
        keeping: Keeping = .andRefresh,
        links: [String] = [],
        tagField: String = "ETag",
        unmarked: Bool = false,
        dictionaries: Dictionaries = .open,
        dictionaryAge: Duration? = nil
    ) {
        guard let pattern = RoutePattern(path) else { preconditionFailure("\(path) \(RoutePattern.rule)") }
        precondition(PageRule.isETagName(tagField), "tagField \(PageRule.etagNameRule)")
        precondition(PageRule.areLinks(links), "links \(PageRule.linksRule)")
        let seconds = dictionaryAge.map { Int($0.components.seconds) }
        precondition(
            seconds.map(PageRoute.dictionarySeconds.contains) ?? true,
            "dictionaryAge is from a second to a year"
        )
        var rule = PageRule()
        rule.cacheOffline =
            switch keeping {
            case .andRefresh: .keepAndRefresh
            case .forLater: .keepForLater
            case .nothing: .keepNothing
            case .switchedOff: .switchOff
            }
        rule.links = links
        rule.etagName = tagField
        rule.takesUnmarked = unmarked
        let use: PageRoute.Dictionaries =
            switch dictionaries {
            case .none: .none
            case .open: .open
            case .all: .all
            }
        route = PageRoute(
            pattern,
            rule: rule,
            dictionaries: use,
            dictionarySeconds: seconds
        )
    }
}
