import HTTPAPI
import NIOHTTP1

/// Which paths there are, for whoever must know without being routed: what a path takes, and how long its body may take.
struct RouteTable: Sendable {
    static let prefix = "/api/v1"

    private let all: [OperatorRoute]
    private let pages: [String]

    init(endpoints: [OperatorRoute], pages: [String]) {
        (all, self.pages) = (endpoints, pages)
    }

    var paths: [(path: String, methods: [String])] {
        var paths: [(path: String, methods: [String])] = pages.map { ($0, ["GET"]) }
        for endpoint in all {
            let path = Self.prefix + endpoint.path
            if let index = paths.firstIndex(where: { $0.path == path }) {
                paths[index].methods.append(endpoint.method.rawValue)
            } else {
                paths.append((path, [endpoint.method.rawValue]))
            }
        }
        return paths
    }

    /// Those that have this path, whatever their method.
    func endpoints(at path: some StringProtocol) -> [OperatorRoute] {
        guard path.hasPrefix("\(Self.prefix)/") else { return [] }
        // With a slash at its end it is another path.
        let names = path.dropFirst(Self.prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        return all.filter { endpoint in
            let parts = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count == names.count
                && zip(parts, names).allSatisfy { $0.hasPrefix("{") || String($0) == String($1) }
        }
    }

    /// No route has this path and this method: perhaps one has the path.
    func problem(at path: String) -> APIProblem {
        let methods = pages.contains(path) ? ["GET"] : endpoints(at: path).map(\.method.rawValue)
        guard !methods.isEmpty else {
            return .notFound(
                all.isEmpty
                    ? "There is nothing here." : "There is nothing here; GET /api/v1/openapi.json says what there is."
            )
        }
        let allowed = Set(methods + (methods.contains("GET") ? ["HEAD"] : [])).sorted().joined(separator: ", ")
        return APIProblem(405, "methodNotAllowed", "this takes \(allowed)", rule: allowed, allow: allowed)
    }
}
