import HTTPAPI
package import HTTPFiles
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOHTTP1
import PatchFormat
import PatchServer
package import ReleaseService

/// What operators and pipelines ask, routed by Hummingbird: the release service under `/api/v1`, its description, and the pages
/// of a server's health.
///
/// Every request but for the description and those pages needs a token (`Authorization: Bearer plt_…`), which is looked at
/// before any of the body is taken. Nothing is answered from memory, and nothing may be kept by a cache.
package struct OperatorRoutes: Sendable {
    static let silent = Logger(label: "patchsrv.operators", factory: { _ in SwiftLogNoOpLogHandler() })

    /// The release service; without one the pages alone are answered.
    package struct Service: Sendable {
        let operations: ReleaseOperations
        let uploads: Uploads
        let trustedProxies: TrustedProxies
        let sinceStart: @Sendable () -> Duration

        /// - Parameters:
        ///   - trustedProxies: whose word counts for who asks (`X-Forwarded-For`).
        ///   - sinceStart: a clock that only counts up.
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

    private let responder: RouterResponder<OperatorContext>
    let table: RouteTable

    /// - Parameters:
    ///   - names: the names under which the pages are answered. Other paths need a token.
    ///   - report: receives one line for each internal error.
    package init(
        _ service: Service?,
        pages: OperatorPages,
        names: ListenerNames = .all,
        report: @escaping @Sendable (String) -> Void
    ) {
        let endpoints = service.map(Self.endpoints) ?? []
        let table = RouteTable(endpoints: endpoints, pages: OperatorPages.paths)
        let router = Router(context: OperatorContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ProblemMiddleware(table: table, report: report))
        router.add(middleware: SpellingMiddleware())
        router.add(middleware: ContinueMiddleware())
        for path in OperatorPages.paths {
            router.get("\(path)") { request, _ in
                let origins = HTTPField.Name("Origin").map { request.headers[values: $0] } ?? []
                if let fault = names.fault(host: request.head.authority, origins: origins) { throw APIProblem(fault) }
                guard let page = await pages.page(at: path) else { throw HTTPError(.notFound) }
                return Response(page)
            }
        }
        if let service {
            let gate = APIGate(
                records: service.operations.records,
                trustedProxies: service.trustedProxies,
                sinceStart: service.sinceStart
            )
            for endpoint in endpoints {
                guard let method = HTTPRequest.Method(endpoint.method.rawValue) else { continue }
                router.group().add(middleware: GateMiddleware(endpoint: endpoint, gate: gate))
                    .on("\(RouteTable.prefix)\(endpoint.path)", method: method) { request, context in
                        let call = APICall(
                            request: request,
                            parameters: context.parameters,
                            token: context.token,
                            body: endpoint.body,
                            remoteAddress: context.admitted.remoteAddress
                        )
                        return Response(try await endpoint.work(call))
                    }
            }
        }
        self.table = table
        responder = router.buildResponder()
    }

    private static func endpoints(of service: Service) -> [OperatorRoute] {
        let work = APIWork(operations: service.operations, uploads: service.uploads)
        let endpoints =
            work.aboutIdentity + work.aboutApps + work.aboutTrust + work.aboutPublished + work.aboutUploads
            + work.aboutDrafts
            + work.aboutProposals
            + work.aboutDial + work.aboutParameters + work.aboutAnswers + work.aboutTokens + work.aboutAudit
        // Written once: everybody may ask for it, and writing takes longer than all else of an answer.
        let document = OperatorDescription.make(endpoints).fileBytes + [0x0A]
        let description = OperatorRoute(
            method: .GET,
            path: "/openapi.json",
            name: "describeAPI",
            about: "This description.",
            access: .everybody,
            answers: [.init(status: 200, about: "OpenAPI 3.1.", schema: .document)],
            work: { _ in .bytes(document, type: "application/json") }
        )
        return endpoints + [description]
    }

    /// Every path that is answered, with what varies in braces, and the methods that it takes.
    package var paths: [(path: String, methods: [String])] { table.paths }

    func answer(_ request: Request, _ source: OperatorContext.Source) async -> Response {
        do {
            return try await responder.respond(to: request, context: OperatorContext(source: source))
        } catch { return Response(APIProblem.internal) }
    }

    /// How a body is taken: what is long has a least rate, all else a minute.
    @Sendable func intake(of head: CheckedHead) -> BodyIntake {
        let path = head.target.prefix { $0 != "?" }
        let bodies = table.endpoints(at: path).filter { $0.method.rawValue == head.method.rawValue }.map(\.body)
        return bodies.contains(where: \.takesLong) ? .keptStream : .keptDocument
    }
}
