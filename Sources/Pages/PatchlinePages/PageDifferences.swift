import HTTPTypes
public import Hummingbird
import NIOCore
import NIOHTTP1
import PageServing
import PatchFormat

/// Sends only the changes of a page to clients that have an earlier version.
///
/// ```swift
/// let router = Router()
/// router.add(middleware: PageDifferences())
/// ```
///
/// Clients of VasSonic and devices with Patchline receive 304 for an unchanged page. If they have the page's template, they receive
/// only the blocks between `<!--sonicdiff-NAME-->` and `<!--sonicdiff-NAME-end-->`. Browsers receive a page compressed against the
/// previous one (RFC 9842, `dcz`). Pages without such comments and all other responses pass unchanged.
///
/// A page is a response with status 200 and type `text/html`, up to 5 MB, whose length is known. A response that is streamed passes
/// unchanged. Add this middleware before the one that compresses responses, so that it receives compressed responses.
public struct PageDifferences<Context: RequestContext>: RouterMiddleware {
    private let service: PageService

    /// - Parameters:
    ///   - policies: The policies. The first one that matches a page's path applies, and other pages pass unchanged.
    ///   - memory: The size in bytes of stored pages, against which later ones are compressed.
    public init(_ policies: [PagePolicy] = [PagePolicy()], memory: Int = 64_000_000) {
        service = PageService(PageRoutes(policies.map(\.route)), memory: memory)
    }

    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let fields = HTTPHeaders(request.headers)
        let path = request.uri.path.split(separator: "/").compactMap {
            PercentEncoding.decoded($0.utf8).map { String(decoding: $0, as: UTF8.self) }
        }
        guard
            let exchange = service.exchange(
                HTTPMethod(rawValue: request.method.rawValue),
                path: path,
                spelledPath: request.uri.path,
                fields: fields
            )
        else { return try await next(request, context) }
        var head = request.head
        head.headerFields = HTTPFields(exchange.asked(fields))
        var response = try await next(Request(head: head, body: request.body), context)
        let given = HTTPHeaders(response.headers)
        switch exchange.plan(status: response.status.code, fields: given) {
        case .passes(let fields):
            response.headers = HTTPFields(fields)
        case .copies(let limit, let changed):
            response.headers = HTTPFields(changed)
            guard let length = response.body.contentLength, length <= limit else { return response }
            let page = try await response.body.bytes()
            exchange.remember(page, of: given)
            response.body = .init(byteBuffer: ByteBuffer(bytes: page))
        case .collects(let limit, let otherwise):
            guard let length = response.body.contentLength, length <= limit else {
                response.headers = HTTPFields(otherwise)
                return response
            }
            let answer = exchange.answer(given, body: try await response.body.bytes())
            response.status = .init(code: answer.status)
            response.headers = HTTPFields(answer.fields)
            response.headers[.contentLength] = nil
            response.body = answer.status == 304 ? .init() : .init(byteBuffer: ByteBuffer(bytes: answer.body))
        }
        return response
    }
}
