import HTTPFiles
import NIOHTTP1
import PatchFormat

/// Finds a request's row of the table, and answers by it.
struct ControlSource: FileSource {
    private let routes: [ControlRoute]

    /// - Parameter routes: with the one that describes them.
    init(_ routes: [ControlRoute]) {
        self.routes = routes
    }

    var acceptsBodies: Bool { true }

    func decide(_ request: FileRequest) -> FileDecision {
        guard !request.headers.contains(name: "Origin") else {
            return .now(PreparedReply(ControlProblem.fromAPage.served))
        }
        // A slash at the end is another path.
        let segments = request.path.hasTrailingSlash ? [] : request.path.segments
        let here = routes.compactMap { route in route.parameters(of: segments).map { (route, $0) } }
        let method = request.method == .HEAD ? .GET : request.method
        guard let (route, parameters) = here.first(where: { $0.0.method == method }) else {
            let methods = here.map(\.0.method.rawValue)
            return .now(PreparedReply((methods.isEmpty ? .notFound : ControlProblem.notAllowed(methods)).served))
        }
        return .later(.whole) { request in
            do throws(ControlProblem) {
                let call = ControlCall(request: request, parameters: parameters)
                try ControlNames.check(call, body: route.body, query: route.query.map(\.name))
                return try await route.work(call).served
            } catch { return error.served }
        }
    }

    func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalWords? {
        RefusalWords(
            contentType: ControlProblem.mediaType,
            bytes: ControlProblem(refusal: refusal, status).json.fileBytes + [0x0A]
        )
    }
}
