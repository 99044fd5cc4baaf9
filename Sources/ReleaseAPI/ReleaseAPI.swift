package import HTTPFiles
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
package import NIOHTTP1
import PatchFormat
package import ReleaseService
import ServerRecords

/// The release service over HTTP: `/api/v1/…`, routed by Hummingbird, beside the published tree on one port.
///
/// Every request but for the API's own description needs a token (`Authorization: Bearer plt_…`), which is looked at
/// before any of the body is taken. Nothing is answered from memory, and nothing may be kept by a cache.
package struct ReleaseAPI: RequestDelegate {
    package static let prefix = "api"

    private let responder: RouterResponder<APIContext>
    private let endpoints: [APIEndpoint]
    private let gate: APIGate
    private let report: @Sendable (String) -> Void
    private let logger = Logger(label: "patchsrv.api", factory: { _ in SwiftLogNoOpLogHandler() })

    /// - Parameters:
    ///   - trustedProxies: whose word counts for who asks (`X-Forwarded-For`).
    ///   - sinceStart: a clock that only counts up.
    ///   - report: told of what went wrong inside, one line each.
    package init(
        _ desk: ReleaseDesk,
        uploads: Uploads,
        trustedProxies: TrustedProxies = .none,
        sinceStart: @escaping @Sendable () -> Duration = Self.sinceStart,
        report: @escaping @Sendable (String) -> Void
    ) {
        let gate = APIGate(records: desk.records, trustedProxies: trustedProxies, sinceStart: sinceStart)
        let work = APIWork(desk: desk, uploads: uploads, devices: DeviceDesk(desk))
        var endpoints =
            work.aboutApps + work.aboutTrust + work.aboutUploads + work.aboutDrafts + work.aboutProposals
            + work.aboutDial
            + work.aboutParameters + work.aboutAnswers + work.aboutTokens + work.aboutAudit
        let document = OpenAPIDocument.make(endpoints)
        endpoints.append(
            APIEndpoint(
                method: .get,
                path: "/openapi.json",
                name: "describeAPI",
                about: "This description.",
                access: .everybody,
                answers: [.init(status: 200, about: "OpenAPI 3.1.", schema: .document)],
                handle: { _ in .json(document) }
            )
        )
        let router = Router(context: APIContext.self)
        for endpoint in endpoints {
            router.on("/api/v1\(endpoint.path)", method: endpoint.method) { request, context in
                try await Self.response(to: request, context, at: endpoint, gate)
            }
        }
        self.endpoints = endpoints
        self.gate = gate
        self.report = report
        responder = router.buildResponder()
    }

    private static let start = ContinuousClock.now
    package static let sinceStart: @Sendable () -> Duration = { start.duration(to: .now) }

    package var acceptsBodies: Bool { true }

    package func takes(_ request: FileRequest) -> Bool { request.path.segments.first == Self.prefix }

    package func decide(_ request: FileRequest) -> FileDecision {
        let bodies = endpoints(at: request.path).filter { $0.method.rawValue == request.method.rawValue }.map(\.body)
        return .later(bodies.contains(where: \.takesLong) ? .keptStream : .keptDocument, answer)
    }

    private func answer(_ request: FileRequest) async -> FileAnswer {
        do {
            return .stream(try await ServedStream(await response(to: request)))
        } catch {
            report("\(request.method) \(request.path.text): \(error)")
            return .refused(.internalServerError, message: "The answer cannot be made.", headers: [:])
        }
    }

    /// What the server refuses before it comes here, in the words of the API.
    package static func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalWords? {
        let path = target.prefix { $0 != "?" }
        guard path == "/\(prefix)" || path.hasPrefix("/\(prefix)/") else { return nil }
        let kind: String =
            switch status {
            case .badRequest: "badRequest"
            case .methodNotAllowed: "methodNotAllowed"
            case .requestTimeout: "tooSlow"
            case .payloadTooLarge: "tooLarge"
            default: "refused"
            }
        let problem = APIProblem(Int(status.code), kind, refusal)
        return RefusalWords(contentType: APIProblem.mediaType, bytes: problem.json.fileBytes + [0x0A])
    }

    private func response(to request: FileRequest) async -> Response {
        do {
            if let fault = request.spellingFault { throw APIProblem.badRequest(fault) }
            let response = try await responder.respond(
                to: Request(fileRequest: request),
                context: APIContext(
                    source: APIContext.Source(
                        logger: logger,
                        remoteAddress: request.remoteAddress,
                        standing: request.standing
                    )
                )
            )
            // The router's own: every endpoint says what it could not find.
            let isUnrouted = response.status == .notFound && response.headers[.contentType] == nil
            return isUnrouted ? Response(unrouted(request)) : response
        } catch let problem as APIProblem {
            return Response(problem)
        } catch is CancellationError {
            return Response(APIProblem(503, "stopping", "the server stops", retryAfter: 1))
        } catch {
            report("\(request.method) \(request.path.text): \(error)")
            return Response(APIProblem(500, "internal", "the server could not do this; its log says why"))
        }
    }

    /// No endpoint has this path and this method: perhaps one has the path.
    private func unrouted(_ request: FileRequest) -> APIProblem {
        let methods = endpoints(at: request.path).map(\.method.rawValue)
        guard !methods.isEmpty, request.path.segments.dropFirst().first == "v1" else {
            return .notFound("There is nothing here; GET /api/v1/openapi.json says what there is.")
        }
        let allowed = Set(methods + (methods.contains("GET") ? ["HEAD"] : [])).sorted().joined(separator: ", ")
        return APIProblem(405, "methodNotAllowed", "this takes \(allowed)", rule: allowed)
    }

    /// Those below `/api/v1` that have this path, whatever their method.
    private func endpoints(at path: RequestPath) -> [APIEndpoint] {
        let segments = path.segments.dropFirst(2)
        return endpoints.filter { endpoint in
            let parts = endpoint.path.split(separator: "/")
            return parts.count == segments.count
                && zip(parts, segments).allSatisfy { $0.hasPrefix("{") || String($0) == $1 }
        }
    }

    private static func response(
        to request: Request,
        _ context: APIContext,
        at endpoint: APIEndpoint,
        _ gate: APIGate
    ) async throws -> Response {
        do {
            let token = try await gate.admit(
                request,
                from: context.remoteAddress,
                context.parameters,
                to: endpoint
            )
            if token != nil { context.standing?.show() }
            let call = APICall(request: request, parameters: context.parameters, token: token, body: endpoint.body)
            return Response(try await endpoint.handle(call))
        } catch let error as DeskError {
            throw APIProblem(error)
        } catch let error as UploadError {
            throw APIProblem(error)
        } catch let error as RecordError {
            throw APIProblem(.records(error))
        }
    }
}

/// What Hummingbird carries beside a request.
struct APIContext: RequestContext {
    struct Source: RequestContextSource {
        let logger: Logger
        let remoteAddress: String?
        let standing: Standing?
    }

    var coreContext: CoreRequestContextStorage
    let remoteAddress: String?
    /// Of the connection.
    let standing: Standing?

    init(source: Source) {
        remoteAddress = source.remoteAddress
        standing = source.standing
        coreContext = CoreRequestContextStorage(source: source)
    }
}
