import HTTPCore
import NIOHTTP1
import PageDiff

/// The treatment of a response to a request without tags, once its head has arrived.
enum FirstLoad: Equatable, Sendable {
    /// The page streams to its readers, and is stored if it is consistent at its end.
    case collect
    /// The response cannot be shown as a page. The server is asked again with the browser's own request.
    case requestPlainly
    /// The response is passed unchanged to the client that asked for it.
    case pass

    init(_ reply: PageReply, _ fields: HTTPHeaders, takesUntagged: Bool) {
        switch reply.status {
        case 304, 503: self = .requestPlainly
        case 200 where reply.usesProtocol && reply.templateChanged == false: self = .requestPlainly
        case 200 where fields.pageCoding(against: nil) == nil: self = .pass
        case 200 where reply.usesProtocol: self = .collect
        case 200 where takesUntagged && fields.isPage && !fields.cacheDirectives.contains("no-store"): self = .collect
        default: self = .pass
        }
    }
}
