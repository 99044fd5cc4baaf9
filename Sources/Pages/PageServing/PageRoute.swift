package import PageDiff
package import PatchFormat

/// The settings for pages under a path.
package struct PageRoute: Equatable, Sendable {
    /// The pages that a browser may use as dictionaries, and that are compressed against them (RFC 9842).
    ///
    /// If a page with a secret is compressed together with text that an attacker chose, its length reveals whether both are alike.
    /// Such pages are therefore excluded unless a route allows them.
    package enum Dictionaries: String, CaseIterable, Sendable {
        case none
        /// Pages requested without cookies and credentials that set no cookie.
        case open
        case all

        package static let rule = "must be none, open or all"

        /// - Parameter isOpen: Whether the request has no cookies or credentials.
        func hold(isOpen: Bool) -> Bool {
            switch self {
            case .none: false
            case .open: isOpen
            case .all: true
            }
        }
    }

    package static let dictionarySeconds = 1...31_536_000

    package let path: RoutePattern
    /// The rule, or nil if pages pass unchanged.
    package let rule: PageRule?
    package let dictionaries: Dictionaries
    /// How long a page may be a dictionary, in seconds.
    ///
    /// If nil, the page's own `Cache-Control` decides.
    package let dictionarySeconds: Int?

    package init(
        _ path: RoutePattern,
        rule: PageRule? = PageRule(),
        dictionaries: Dictionaries = .open,
        dictionarySeconds: Int? = nil
    ) {
        self.path = path
        self.rule = rule
        self.dictionaries = dictionaries
        self.dictionarySeconds = dictionarySeconds
    }
}
