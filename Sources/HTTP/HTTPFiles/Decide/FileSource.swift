package import NIOHTTP1

/// The content behind a server: takes a request and returns an answer.
///
/// Called on any thread, for many connections at a time. The source names the content. The server decides which part of it is sent,
/// by conditions, ranges, and HEAD.
package protocol FileSource: Sendable {
    /// Whether POST, PUT, PATCH, DELETE and OPTIONS reach the source. If not, they are answered 405.
    var acceptsBodies: Bool { get }

    /// Decides on a request by its head alone. Made once, without side effects.
    ///
    /// Called before the body arrives, on an event loop, so it must not wait for more than a local disk: no network, no lock that
    /// is held for long, no large file read. The answer may never be sent. A source that records requests does so when the answer
    /// is used: see ``PreparedReply/whenUsed`` and ``FileDecision/later(_:_:)``.
    func decide(_ request: FileRequest) -> FileDecision

    /// Whether the source forwards a request to another server as it was sent. That server then judges its method and its path.
    ///
    /// Called for requests that would be refused otherwise: with a method beyond those of ``acceptsBodies``, or with a path that
    /// cannot name a file. Such segments keep their spelling: `a%2Fb`, `%FF`.
    func passesAsSent(_ request: FileRequest) -> Bool

    /// A version number. It changes to an unused number when a ``PreparedReply`` with the previous number is no longer valid.
    ///
    /// Read before each request, on any thread.
    var edition: Int { get }

    /// The fields of every answer, including the server's own refusals, unless an answer has them already.
    ///
    /// - Parameter headers: The request's fields, or nil if they could not be read.
    func everyAnswerFields(to headers: HTTPHeaders?) -> HTTPHeaders

    /// Replaces the text of a refusal. Nil keeps it.
    ///
    /// - Parameter target: The target as the client sent it. It may be invalid, and so the reason for the refusal.
    func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalBody?

    /// Replaces the text of a refusal of an unreadable request. Nil keeps it.
    func words(forUnread refusal: String, _ status: HTTPResponseStatus) -> RefusalBody?
}

extension FileSource {
    package var acceptsBodies: Bool { false }

    package var edition: Int { 0 }

    package func passesAsSent(_ request: FileRequest) -> Bool { false }

    package func everyAnswerFields(to headers: HTTPHeaders?) -> HTTPHeaders { [:] }

    package func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalBody? { nil }

    package func words(forUnread refusal: String, _ status: HTTPResponseStatus) -> RefusalBody? { nil }
}

/// The body of a refusal that is more than a line of text.
///
/// It is sent with `Cache-Control: no-store`, because sources with such bodies are APIs.
package struct RefusalBody: Equatable, Sendable {
    package let contentType: String
    package let bytes: [UInt8]

    package init(contentType: String, bytes: [UInt8]) {
        self.contentType = contentType
        self.bytes = bytes
    }
}

/// A source for some requests only.
///
/// Another source asks it first.
package protocol RequestDelegate: FileSource {
    /// Whether this source answers the request.
    func takes(_ request: FileRequest) -> Bool
}
