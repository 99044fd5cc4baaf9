import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PageDiff

/// A server of pages that speaks the protocol, until it is told to answer otherwise.
final class PageServer: FileSource {
    typealias Handler = @Sendable (FileRequest) async -> FileAnswer

    private struct State {
        var pages: [String: String] = [:]
        var rule = PageRule()
        var fields: HTTPHeaders = [:]
        var handler: Handler?
        var requests: [FileRequest] = []
    }

    let acceptsBodies = true
    private let state = NIOLockedValueBox(State())

    /// - Parameter pages: by their paths.
    init(_ pages: [String: String] = ["/live": Pages.cart(1)]) {
        state.withLockedValue { $0.pages = pages }
    }

    /// All requests that came.
    var requests: [FileRequest] { state.withLockedValue(\.requests) }
    var last: FileRequest? { requests.last }

    /// From now on a path has this page.
    func show(_ page: String, at path: String = "/live") { state.withLockedValue { $0.pages[path] = page } }

    func set(_ offline: CacheOffline) { state.withLockedValue { $0.rule.cacheOffline = offline } }

    func change(_ body: (inout PageRule) -> Void) { state.withLockedValue { body(&$0.rule) } }

    /// Fields of every answer.
    func add(_ fields: HTTPHeaders) { state.withLockedValue { $0.fields = fields } }

    /// Nil to speak the protocol again.
    func answer(_ handler: Handler?) { state.withLockedValue { $0.handler = handler } }

    /// As in the protocol, with the tag in a field of another name.
    func answer(naming name: String, _ tag: String) {
        answer { request in
            guard case .stream(var stream) = self.inProtocol(request) else { return .notFound }
            stream.headers.remove(name: "ETag")
            stream.headers.add(name: "sonic-etag-key", value: name)
            stream.headers.add(name: name, value: tag)
            return .stream(stream)
        }
    }

    func decide(_ request: FileRequest) -> FileDecision {
        .later(.whole) { request in
            self.state.withLockedValue { $0.requests.append(request) }
            if let handler = self.state.withLockedValue({ $0.handler }) { return await handler(request) }
            return self.inProtocol(request)
        }
    }

    func inProtocol(_ request: FileRequest) -> FileAnswer {
        let (text, rule, more) = state.withLockedValue { ($0.pages[request.path.text], $0.rule, $0.fields) }
        guard let text else { return .notFound }
        let page = SplitPage(Array(text.utf8))
        var fields: HTTPHeaders = ["Content-Type": "text/html; charset=utf-8"]
        fields.add(contentsOf: more)
        guard let question = PageQuestion({ request.headers.first(name: $0) }) else { return .page(text, fields) }
        let answer = PageAnswer(to: question, with: page)
        for (name, value) in answer.fields(of: page, by: rule) { fields.add(name: name, value: value) }
        switch answer {
        case .notModified: return .page("", fields, .notModified)
        case .page: return .page(text, fields)
        case .data(let update): return .page(String(decoding: update.bytes, as: UTF8.self), fields)
        }
    }
}

extension FileAnswer {
    static func page(_ text: String, _ fields: HTTPHeaders = [:], _ status: HTTPResponseStatus = .ok) -> FileAnswer {
        .stream(
            ServedStream(status: status, headers: fields, length: text.utf8.count) {
                if !text.isEmpty { try await $0(ByteBuffer(string: text)) }
            }
        )
    }
}

/// Pages as a shop has them.
enum Pages {
    /// The cart's number is its data.
    static func cart(_ number: Int, template: String = "shop") -> String {
        "<html><title>Cart</title><h1>\(template)</h1><!--sonicdiff-cart--><b>\(number)</b><!--sonicdiff-cart-end--></html>"
    }
}
