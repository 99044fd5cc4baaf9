import PageDiff
import PatchFormat

/// The routes of a site; the first that names a path is the one for it, and pages without one pass as they are.
package struct PageRoutes: Equatable, Sendable {
    package static let most = 1_000

    package let routes: [PageRoute]

    package init(_ routes: [PageRoute]) {
        self.routes = routes
    }

    /// All pages.
    package static let all = PageRoutes(RoutePattern("/**").map { [PageRoute($0)] } ?? [])

    /// - Parameter path: decoded.
    func route(for path: [String]) -> PageRoute? {
        routes.first { $0.path.matches(path) }.flatMap { $0.rule == nil ? nil : $0 }
    }
}
