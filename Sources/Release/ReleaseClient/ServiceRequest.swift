import NIOHTTP1
import PatchFormat

/// A request to a server, with limits for the size and duration of its answer.
struct ServiceRequest: Sendable {
    enum Body: Sendable {
        case none
        case json(JSON)
        case part(PartBody)
    }

    let method: HTTPMethod
    /// The path below the server's address.
    let path: String
    var headers: [(String, String)] = []
    var body = Body.none
    /// The maximum time for the head of the answer, and again for its body.
    var deadline = Duration.seconds(60)
    /// The maximum size of the answer, in bytes.
    var limit = ServiceRequest.documentLimit

    /// The needs of a release with 100,000 assets take about 25 MB.
    static let documentLimit = 64_000_000

    /// A request to the service, below `/api/v1/apps/APP`.
    static func service(
        _ method: HTTPMethod,
        _ app: AppID,
        _ path: String = "",
        body: Body = .none
    ) -> ServiceRequest {
        ServiceRequest(method: method, path: "/api/v1/apps/\(app)\(path)", body: body)
    }

    /// The apps that the token gives access to.
    static let apps = ServiceRequest(method: .GET, path: "/api/v1/apps")
}
