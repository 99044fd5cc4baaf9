package import PageDiff
package import PatchFormat

/// How pages under a path are served.
package struct PageRoute: Equatable, Sendable {
    /// Which pages a browser may use as dictionaries, and which are compressed against them (RFC 9842).
    ///
    /// What is compressed together with something that somebody else chose tells by its length whether both are alike. A page with
    /// a secret in it is therefore none unless a route says that it may be.
    package enum Dictionaries: String, CaseIterable, Sendable {
        case none
        /// Those that were asked for without cookies and credentials, and set no cookie.
        case open
        case all

        package static let rule = "must be none, open or all"

        /// - Parameter isOpen: whether nothing in a request says who asks.
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
    /// Nil where pages pass as they are.
    package let rule: PageRule?
    package let dictionaries: Dictionaries
    /// How long a page may be a dictionary, in seconds; nil where the page's own `Cache-Control` says it.
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
