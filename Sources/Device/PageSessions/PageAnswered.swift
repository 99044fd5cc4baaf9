import HTTPFiles
import NIOHTTP1
import PageDiff

/// The head of a response.
struct PageAnswered: Sendable {
    let reply: PageReply
    let fields: HTTPHeaders
    private(set) var cookies: [String]

    init(_ reply: PageReply, _ fields: HTTPHeaders) {
        (self.reply, self.fields) = (reply, fields)
        cookies = fields["Set-Cookie"]
    }

    /// The response was late or incomplete.
    static let late = PageAnswered(PageReply(status: 504) { _ in nil }, [:])

    /// The proxy's status if the page's server did not respond: 502 if it cannot be reached, 504 after a timeout.
    static func missing(_ answer: FileAnswer) -> PageAnswered {
        guard case .refused(let status, message: _, headers: _) = answer, status.code >= 500 else { return late }
        return PageAnswered(PageReply(status: Int(status.code)) { _ in nil }, [:])
    }

    /// Whether the body is data only.
    var isUpdate: Bool { reply.usesProtocol && reply.templateChanged == false }

    func adding(cookies: [String]) -> PageAnswered {
        var sum = self
        sum.cookies = cookies + sum.cookies
        return sum
    }
}
