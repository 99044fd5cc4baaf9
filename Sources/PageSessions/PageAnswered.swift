import NIOHTTP1
import PageDiff

/// The head of an answer.
struct PageAnswered: Sendable {
    let reply: PageReply
    let fields: HTTPHeaders
    private(set) var cookies: [String]

    init(_ reply: PageReply, _ fields: HTTPHeaders) {
        (self.reply, self.fields) = (reply, fields)
        cookies = fields["Set-Cookie"]
    }

    /// No answer, or none in time.
    static let late = PageAnswered(PageReply(status: 504) { _ in nil }, [:])

    /// Whether its bytes are data alone.
    var isUpdate: Bool { reply.isOfProtocol && reply.templateChanged == false }

    func adding(cookies: [String]) -> PageAnswered {
        var sum = self
        sum.cookies = cookies + sum.cookies
        return sum
    }
}
