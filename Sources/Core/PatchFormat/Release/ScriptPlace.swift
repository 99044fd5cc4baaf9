/// Where a script runs: in the app's own program, in its pages, or in both; and in which pages.
///
/// ```
/// "runsIn": "page", "pages": ["/cart", "/item/*"]
/// ```
/// It is not a rule: a reader that does not know it installs the entry like any other, and runs the script in the program.
package struct ScriptPlace: Hashable, Sendable {
    package enum Side: String, Sendable {
        /// The program that shows the pages, with the interface that it exposes.
        case host
        /// The pages that the device serves. The script runs before a page's own scripts.
        case page
        case both
    }

    package let side: Side
    /// Path patterns of these pages, in the grammar of a manifest's routes, or nil for every page.
    package let pages: [RoutePattern]?

    /// The default of scripts, and the value of every bundle.
    package static let host = ScriptPlace(.host)

    /// - Precondition: `pages` is nil for the host.
    package init(_ side: Side, pages: [RoutePattern]? = nil) {
        precondition(side != .host || pages == nil, "the host has no pages")
        (self.side, self.pages) = (side, pages)
    }

    package var isInPages: Bool { side != .host }
    package var isInHost: Bool { side != .page }

    /// Whether the script runs in the page at this decoded path.
    package func isIn(pageAt segments: [String]) -> Bool {
        isInPages && (pages?.contains { $0.matches(segments) } ?? true)
    }

    package static let sideRule = "must be host, page or both"
    package static let kindRule = "is for scripts"
    package static let hostRule = "is for scripts that run in pages: set runsIn to page or both"
    package static let emptyRule = "must hold a pattern; without it every page gets the script"

    /// The JSON members, both nil for a script that runs in the host alone, which is the default.
    package var members: [(String, JSON?)] {
        [
            ("runsIn", isInPages ? .text(side.rawValue) : nil),
            ("pages", pages.map { .array($0.map { .text($0.text) }) }),
        ]
    }

    /// - Parameter kind: the kind of the entry that contains the members.
    package init(_ fields: Fields, kind: PatchKind) throws(FormatError) {
        for key in ["runsIn", "pages"] where kind != .script && fields.has(key) {
            throw fields.broken(key, Self.kindRule)
        }
        let side = try fields.optionalString("runsIn").map { text throws(FormatError) in
            guard let side = Side(rawValue: text) else { throw fields.broken("runsIn", Self.sideRule) }
            return side
        }
        guard fields.has("pages") else {
            self.init(side ?? .host)
            return
        }
        let texts = try fields.strings("pages", limit: Limits.pagesOfScript)
        guard let side, side != .host else { throw fields.broken("pages", Self.hostRule) }
        guard !texts.isEmpty else { throw fields.broken("pages", Self.emptyRule) }
        var pages: [RoutePattern] = []
        for (index, text) in texts.enumerated() {
            guard let pattern = RoutePattern(text) else { throw fields.broken("pages[\(index)]", RoutePattern.rule) }
            pages.append(pattern)
        }
        self.init(side, pages: pages)
    }
}

extension ScriptPlace: CustomStringConvertible {
    /// A description for people: `runs in pages /cart, /item/*`.
    package var description: String {
        let which = pages.map { "pages " + $0.map(\.text).joined(separator: ", ") } ?? "every page"
        return switch side {
        case .host: "runs in the app's program"
        case .page: "runs in \(which)"
        case .both: "runs in the app's program and in \(which)"
        }
    }
}
