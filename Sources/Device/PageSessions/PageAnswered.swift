import HTTPFiles
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

    /// No answer in time, or none that is whole.
    static let late = PageAnswered(PageReply(status: 504) { _ in nil }, [:])

    /// What the proxy says where the page's server gave no answer: 502 where it cannot be reached, 504 where time was over.
    static func missing(_ answer: FileAnswer) -> PageAnswered {
        guard case .refused(let status, message: _, headers: _) = answer, status.code >= 500 else { return late }
        return PageAnswered(PageReply(status: Int(status.code)) { _ in nil }, [:])
    }

    /// Whether its bytes are data alone.
    var isUpdate: Bool { reply.isOfProtocol && reply.templateChanged == false }

    func adding(cookies: [String]) -> PageAnswered {
        var sum = self
        sum.cookies = cookies + sum.cookies
        return sum
    }
}
