import HTTPAPI
package import HTTPCore
package import HTTPFiles
package import NIOHTTP1
import PatchFormat
import PatchServer
package import ReleaseService
import ServerRecords

/// The operators' port: the release service under `/api/v1`, its description, and the health pages.
///
/// Every other request needs a token (`Authorization: Bearer plt_…`), which is checked before the body is received. Responses are
/// not cached here, and caches must not store them.
package struct OperatorRoutes: FileSource {
    /// The release service.
    ///
    /// Without one only the pages exist.
    package struct Service: Sendable {
        let operations: ReleaseOperations
        let uploads: Uploads
        let trustedProxies: TrustedProxies
        let sinceStart: @Sendable () -> Duration

        /// - Parameters:
        ///   - trustedProxies: The proxies whose `X-Forwarded-For` is used.
        ///   - sinceStart: A monotonic clock.
        package init(
            _ operations: ReleaseOperations,
            uploads: Uploads,
            trustedProxies: TrustedProxies = .none,
            sinceStart: @escaping @Sendable () -> Duration = RateLimiter.sinceStart
        ) {
            (self.operations, self.uploads) = (operations, uploads)
            (self.trustedProxies, self.sinceStart) = (trustedProxies, sinceStart)
        }
    }

    private static let prefix = "/api/v1"

    /// The routes and the gate in front of them, which only exist together.
    private struct API: Sendable {
        let table: APITable<OperatorAccess, APICall>
        let gate: APIGate
    }

    private let api: API?
    private let pages: OperatorPages
    private let names: ListenerNames
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - names: The names under which the pages are available. Other paths need a token.
    ///   - report: Receives one line for each internal error.
    package init(
        _ service: Service?,
        pages: OperatorPages,
        names: ListenerNames = .all,
        report: @escaping @Sendable (String) -> Void
    ) {
        api = service.map {
            API(
                table: APITable(Self.routes(of: $0), below: Self.prefix),
                gate: APIGate(
                    records: $0.operations.records,
                    trustedProxies: $0.trustedProxies,
                    sinceStart: $0.sinceStart
                )
            )
        }
        (self.pages, self.names, self.report) = (pages, names, report)
    }

    private static func routes(of service: Service) -> [OperatorRoute] {
        let work = APIWork(operations: service.operations, uploads: service.uploads)
        let routes =
            work.aboutIdentity + work.aboutApps + work.aboutTrust + work.aboutPublished + work.aboutUploads
            + work.aboutDrafts
            + work.aboutProposals
            + work.aboutDial + work.aboutParameters + work.aboutAnswers + work.aboutTokens + work.aboutAudit
        // Written once, because requests for it need no token and writing is expensive.
        let document = OperatorDescription.make(routes).fileBytes + [0x0A]
        let description = OperatorRoute(
            method: .GET,
            path: "/openapi.json",
            name: "describeAPI",
            about: "This description.",
            access: .everybody,
            answers: [.init(status: 200, about: "OpenAPI 3.1.", schema: .document)],
            work: { _ in .bytes(document, type: "application/json") }
        )
        return routes + [description]
    }

    /// All paths with their methods.
    ///
    /// Variable parts are in braces.
    package var paths: [(path: String, methods: [String])] {
        var paths: [(path: String, methods: [String])] = OperatorPages.paths.map { ($0, ["GET"]) }
        for route in api?.table.routes ?? [] {
            let path = Self.prefix + route.path
            if let index = paths.firstIndex(where: { $0.path == path }) {
                paths[index].methods.append(route.method.rawValue)
            } else {
                paths.append((path, [route.method.rawValue]))
            }
        }
        return paths
    }

    package var acceptsBodies: Bool { true }

    package func decide(_ request: FileRequest) -> FileDecision {
        // Each path has one spelling, so that a proxy's path rules apply to the same path.
        if let fault = request.spellingFault { return refusal(.badRequest(fault)) }
        let path = request.path.hasTrailingSlash ? "" : request.path.text
        if OperatorPages.paths.contains(path) {
            guard request.method == .GET || request.method == .HEAD else { return refusal(notAllowed(["GET"])) }
            return answering { try await page(at: path, to: $0) }
        }
        guard let api else { return refusal(.notFound("There is nothing here.")) }
        switch api.table.match(request) {
        case .nothing:
            return refusal(.notFound("There is nothing here; GET /api/v1/openapi.json lists the paths."))
        case .otherMethods(let methods): return refusal(notAllowed(methods.map(\.rawValue)))
        case .route(let route, let parameters):
            return answering(route.body.takesLong ? .keptStream : .keptDocument) { request in
                let token = try await api.gate.admit(request, parameters, to: route)
                if token != nil { request.right?.show() }
                return try await route.work(
                    APICall(request: request, parameters: parameters, token: token, body: route.body)
                )
            }
        }
    }

    private func page(at path: String, to request: FileRequest) async throws -> APIAnswer {
        if let fault = names.fault(host: request.headers.first(name: "Host"), origins: request.headers["Origin"]) {
            throw APIProblem(fault)
        }
        guard let page = await pages.page(at: path) else { throw APIProblem.notFound("There is nothing here.") }
        return APIAnswer(
            .bytes(page.bytes, type: page.contentType),
            status: page.status,
            headers: HTTPHeaders(page.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        )
    }

    private func notAllowed(_ methods: [String]) -> APIProblem {
        let allowed = Set(methods + (methods.contains("GET") ? ["HEAD"] : [])).sorted().joined(separator: ", ")
        return APIProblem(405, "methodNotAllowed", "this takes \(allowed)", rule: allowed, allow: allowed)
    }

    /// Rejects a request before its body is received.
    private func refusal(_ problem: APIProblem) -> FileDecision { answering { _ in throw problem } }

    private func answering(
        _ intake: BodyIntake = .keptDocument,
        _ work: @escaping @Sendable (FileRequest) async throws -> APIAnswer
    ) -> FileDecision {
        .later(intake) { request in
            do { return try await work(request).served(isWhole: true) } catch {
                let known = APIProblem(of: error)
                if known == nil { report("\(request.method) \(request.path.text): \(error)") }
                let problem = known ?? .internal
                let realm: HTTPHeaders = ["WWW-Authenticate": "Bearer realm=\"patchsrv\""]
                return problem.answer(problem.status == 401 ? realm : [:]).served(isWhole: true)
            }
        }
    }

    package func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalBody? {
        words(forUnread: refusal, status)
    }

    package func words(forUnread refusal: String, _ status: HTTPResponseStatus) -> RefusalBody? {
        RefusalBody(contentType: APIProblem.mediaType, bytes: APIProblem.refused(refusal, status).bytes)
    }
}
