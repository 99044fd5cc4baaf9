import HTTPAPI
import HTTPFiles
import NIOHTTP1
import PatchFormat

/// A route of the local socket.
///
/// The permissions of the socket control access, so routes do not require rights.
typealias ControlRoute = APIRoute<Never, ControlCall>

/// Answers each request with its route.
struct ControlSource: FileSource {
    private let table: APITable<Never, ControlCall>

    /// - Parameter routes: All routes, including the one that describes them.
    init(_ routes: [ControlRoute]) {
        table = APITable(routes)
    }

    var acceptsBodies: Bool { true }

    func decide(_ request: FileRequest) -> FileDecision {
        guard !request.headers.contains(name: "Origin") else { return refusal(.fromAPage) }
        switch table.match(request) {
        case .nothing: return refusal(.noSuchResource)
        case .otherMethods(let methods): return refusal(.notAllowed(methods.map(\.rawValue)))
        case .route(let route, let parameters):
            return .later(.whole) { request in
                do {
                    let call = ControlCall(request: request, parameters: parameters)
                    try ControlNames.check(call, of: route)
                    return try await route.work(call).served()
                } catch {
                    // No route throws another error. If one did, the device's state would not be the reason (409).
                    let problem = error as? APIProblem ?? APIProblem(500, "internal", "\(error)", code: .failed)
                    return problem.answer().served()
                }
            }
        }
    }

    private func refusal(_ problem: APIProblem) -> FileDecision { .now(PreparedReply(problem.answer().served())) }

    func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalBody? {
        words(forUnread: refusal, status)
    }

    func words(forUnread refusal: String, _ status: HTTPResponseStatus) -> RefusalBody? {
        RefusalBody(contentType: APIProblem.mediaType, bytes: APIProblem.refused(refusal, status).bytes)
    }
}
