package import HTTPFiles
package import NIOHTTP1

/// Inspects the answers of upstreams before clients receive them.
package protocol AnswerFilter: Sendable {
    /// Returns nil if the request and its answer are passed on unchanged.
    func view(of request: FileRequest) -> (any AnswerView)?
}

/// Inspects one answer.
package protocol AnswerView: Sendable {
    /// Returns the fields that the upstream receives instead of the client's.
    func asked(_ fields: HTTPHeaders) -> HTTPHeaders
    func plan(for status: HTTPResponseStatus, _ fields: HTTPHeaders) -> AnswerPlan
    /// Returns the client's answer for an upstream's complete answer.
    func answer(_ status: HTTPResponseStatus, _ fields: HTTPHeaders, body: [UInt8]) -> FileAnswer
}

/// The treatment of an answer, decided by its head.
package enum AnswerPlan: Sendable {
    /// Pass the answer on while it arrives, with these fields.
    case passes(HTTPHeaders)
    /// Pass the answer on. If it is no longer than `limit`, the closure receives all of it after it was sent.
    case copies(limit: Int, HTTPHeaders, to: @Sendable ([UInt8]) -> Void)
    /// Collect the whole answer first. If it is longer than `limit`, pass it on with the fields of `else`.
    case collects(limit: Int, else: HTTPHeaders)
}
