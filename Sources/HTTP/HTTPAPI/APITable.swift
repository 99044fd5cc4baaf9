import HTTPCore
package import HTTPFiles
package import NIOHTTP1

/// The routes of an API, found by the paths of requests.
package struct APITable<Access: APIAccess, Call: Sendable>: Sendable {
    package typealias Route = APIRoute<Access, Call>

    package enum Match: Sendable {
        case route(Route, parameters: [String: String])
        /// The path has routes for these methods only, in the order of the table.
        case otherMethods([HTTPMethod])
        case nothing
    }

    package let routes: [Route]
    private let prefix: [String]

    /// - Parameter prefix: the path before those of the routes: `/api/v1`.
    package init(_ routes: [Route], below prefix: String = "") {
        self.routes = routes
        self.prefix = prefix.split(separator: "/").map(String.init)
    }

    /// The route of a request.
    ///
    /// A path with a slash at its end has none. HEAD has the route of GET.
    package func match(_ request: FileRequest) -> Match {
        let segments = request.path.segments
        guard !request.path.hasTrailingSlash, segments.starts(with: prefix) else { return .nothing }
        let rest = Array(segments.dropFirst(prefix.count))
        let here = routes.compactMap { route in route.parameters(of: rest).map { (route, $0) } }
        let method = request.method == .HEAD ? .GET : request.method
        if let (route, parameters) = here.first(where: { $0.0.method == method }) {
            return .route(route, parameters: parameters)
        }
        return here.isEmpty ? .nothing : .otherMethods(here.map(\.0.method))
    }
}
