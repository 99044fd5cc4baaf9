import HTTPAPI
import HTTPFiles
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ReleaseService
import ServerRecords

/// Says whatever went wrong as a problem.
struct ProblemMiddleware: RouterMiddleware {
    let table: RouteTable
    let report: @Sendable (String) -> Void

    func handle(
        _ request: Request,
        context: OperatorContext,
        next: @concurrent (Request, OperatorContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let problem as APIProblem {
            return Response(problem)
        } catch let error as OperationError {
            return Response(APIProblem(error))
        } catch let error as UploadError {
            return Response(APIProblem(error))
        } catch let error as RecordError {
            return Response(APIProblem(.records(error)))
        } catch let error as HTTPError where error.status == .notFound {
            return Response(table.problem(at: request.uri.path))
        } catch is CancellationError {
            return Response(APIProblem(503, "stopping", "the server stops", retryAfter: 1))
        } catch {
            report("\(request.method) \(request.uri.path): \(error)")
            return Response(APIProblem.internal)
        }
    }
}

/// Takes each path in its one spelling, so that whoever looks at paths in front sees what is meant.
struct SpellingMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: OperatorContext,
        next: @concurrent (Request, OperatorContext) async throws -> Response
    ) async throws -> Response {
        if let fault = context.admitted.head?.spellingFault { throw APIProblem.badRequest(fault) }
        // The router takes no notice of a slash at the end; whoever looks for a whole path in front does.
        if request.uri.path.hasSuffix("/") { throw HTTPError(.notFound) }
        return try await next(request, context)
    }
}

/// Tells a client that waits for it to send the body, once somebody asks for that.
struct ContinueMiddleware: RouterMiddleware {
    /// A body whose first piece is asked for with a word to the client.
    private struct Body: AsyncSequence, Sendable {
        typealias Element = ByteBuffer

        struct AsyncIterator: AsyncIteratorProtocol {
            var base: RequestBody.AsyncIterator
            let channel: any Channel
            var isAsked = false

            @concurrent mutating func next() async throws -> ByteBuffer? {
                if !isAsked { channel.triggerUserOutboundEvent(OperatorConnection.BodyIsWanted(), promise: nil) }
                isAsked = true
                return try await base.next()
            }
        }

        let base: RequestBody
        let channel: any Channel

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: base.makeAsyncIterator(), channel: channel)
        }
    }

    func handle(
        _ request: Request,
        context: OperatorContext,
        next: @concurrent (Request, OperatorContext) async throws -> Response
    ) async throws -> Response {
        guard context.admitted.head?.expectsContinue == true else { return try await next(request, context) }
        var request = request
        request.body = RequestBody(asyncSequence: Body(base: request.body, channel: context.channel))
        return try await next(request, context)
    }
}

/// Lets in who may, before any of the body is taken.
struct GateMiddleware: RouterMiddleware {
    let endpoint: OperatorRoute
    let gate: APIGate

    func handle(
        _ request: Request,
        context: OperatorContext,
        next: @concurrent (Request, OperatorContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.token = try await gate.admit(
            request,
            from: context.admitted.remoteAddress,
            context.parameters,
            to: endpoint
        )
        if context.token != nil { context.admitted.right.show() }
        return try await next(request, context)
    }
}
