import HTTPFiles
import NIOHTTP1
import PageDiff

/// What is done with the answer to a request without tags, once its head is there.
enum FirstLoad: Equatable, Sendable {
    /// It streams to its readers, and is kept if it fits together at its end.
    case collect
    /// It is no page that can be shown: the server is asked as a browser asks it.
    case askPlainly
    /// It passes as it is, to the one who asked.
    case pass

    init(_ reply: PageReply, _ fields: HTTPHeaders, takesUntagged: Bool) {
        switch reply.status {
        case 304, 503: self = .askPlainly
        case 200 where reply.isOfProtocol && reply.templateChanged == false: self = .askPlainly
        case 200 where fields.pageCoding(against: nil) == nil: self = .pass
        case 200 where reply.isOfProtocol: self = .collect
        case 200 where takesUntagged && fields.isPage && !fields.cacheDirectives.contains("no-store"): self = .collect
        default: self = .pass
        }
    }
}
