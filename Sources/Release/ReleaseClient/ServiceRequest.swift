import NIOHTTP1
import PatchFormat

/// One request to a server: what is asked, and how much may come back within which time.
struct ServiceRequest: Sendable {
    enum Body: Sendable {
        case none
        case json(JSON)
        case part(PartBody)
    }

    let method: HTTPMethod
    /// Below the server's address.
    let path: String
    var headers: [(String, String)] = []
    var body = Body.none
    /// Until the head of the answer is here, and again for its body.
    var deadline = Duration.seconds(60)
    /// Bytes of the answer.
    var limit = ServiceRequest.documentLimit

    /// What is left to send of a release with 100,000 assets is some 25 MB.
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

    /// Which apps whoever asks may see.
    static let apps = ServiceRequest(method: .GET, path: "/api/v1/apps")
}
