import PageDiff
import PageServing
import PatchFormat

/// The settings for pages under a path.
public struct PagePolicy: Sendable {
    /// The instruction to clients of VasSonic on storing a page (`cache-offline`).
    public enum Keeping: Sendable {
        /// Clients store the page and show its changes.
        case andRefresh
        /// Clients store the page for the next visit.
        case forLater
        /// Clients show the page without storing it.
        case nothing
        /// Clients send requests as browsers do, for six hours.
        case switchedOff
    }

    /// The pages that browsers may use as dictionaries.
    public enum Dictionaries: Sendable {
        case none
        /// Pages requested without cookies and credentials that set no cookie.
        case open
        /// All pages. Use it only if no page contains a secret together with text that others can choose.
        case all
    }

    let route: PageRoute

    /// - Parameters:
    ///   - path: The pattern of paths, such as `/news/*`. `*` matches one name, a closing `**` any rest.
    ///   - links: URLs that clients download before they show a page. At most 100, without blanks and semicolons.
    ///   - tagField: The header field with the page's tag. Set it if an intermediary changes `ETag`.
    ///   - unmarked: Whether pages without a marker are stored too, as a whole.
    ///   - dictionaryAge: How long a page may be a dictionary, from a second to a year. Without it, the page's `Cache-Control`
    ///     decides.
    /// - Precondition: `path` begins with a slash, and `links` and `tagField` satisfy the rules above.
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
