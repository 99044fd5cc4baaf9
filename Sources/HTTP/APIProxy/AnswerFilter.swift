package import HTTPFiles
package import NIOHTTP1

/// What looks at the answers of upstreams on their way to clients.
package protocol AnswerFilter: Sendable {
    /// Nil where a request and its answer pass as they are.
    func view(of request: FileRequest) -> (any AnswerView)?
}

/// What looks at one answer.
package protocol AnswerView: Sendable {
    /// The fields that the upstream gets in place of the client's.
    func asked(_ fields: HTTPHeaders) -> HTTPHeaders
    func plan(for status: HTTPResponseStatus, _ fields: HTTPHeaders) -> AnswerPlan
    /// What a client gets in place of an answer of which all bytes are there.
    func answer(_ status: HTTPResponseStatus, _ fields: HTTPHeaders, body: [UInt8]) -> FileAnswer
}

/// What is to be done with an answer, by its head.
package enum AnswerPlan: Sendable {
    /// It passes while it comes, with these fields.
    case passes(HTTPHeaders)
    /// The same; all of it, where it is no longer than this, is also given to somebody once it was sent.
    case copies(limit: Int, HTTPHeaders, to: @Sendable ([UInt8]) -> Void)
    /// All of it is needed first. One with more bytes than this passes, with these fields.
    case collects(limit: Int, else: HTTPHeaders)
}
