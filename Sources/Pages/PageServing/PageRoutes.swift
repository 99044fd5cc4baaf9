import PageDiff
import PatchFormat

/// The routes of a site.
///
/// The first one that matches a path applies, and other pages pass unchanged.
package struct PageRoutes: Equatable, Sendable {
    package static let most = 1_000

    package let routes: [PageRoute]

    package init(_ routes: [PageRoute]) {
        self.routes = routes
    }

    /// One route for all pages.
    package static let all = PageRoutes(RoutePattern("/**").map { [PageRoute($0)] } ?? [])

    /// - Parameter path: The decoded path.
    func route(for path: [String]) -> PageRoute? {
        routes.first { $0.path.matches(path) }.flatMap { $0.rule == nil ? nil : $0 }
    }
}
