package import NIOHTTP1

/// The content behind a server: a request in, an answer out.
///
/// Called on any thread, for many connections at a time. The source names the content; the server decides which part of
/// it is sent, if any: conditions, ranges, HEAD.
package protocol FileSource: Sendable {
    /// Whether POST, PUT, PATCH, DELETE and OPTIONS reach the source; if not, they are answered 405.
    var acceptsBodies: Bool { get }

    /// The decision on a request, by its head alone: made once, without side effects.
    ///
    /// Called before the body, on an event loop, where nothing may wait for more than a local disk: no network, no lock
    /// that is held for long, no large file read. The answer may never be sent. A source that remembers requests notes
    /// them when the answer is used: see ``PreparedReply/whenUsed`` and ``FileDecision/later(_:_:)``.
    func decide(_ request: FileRequest) -> FileDecision

    /// Whether the source hands a request on to another server as it was sent, which then decides about its method and its path.
    ///
    /// Asked for requests that are refused otherwise: with a method beside those of ``acceptsBodies``, and with a path that names
    /// no file, in which such segments are as they were sent: `a%2Fb`, `%FF`.
    func passesAsSent(_ request: FileRequest) -> Bool

    /// A number never used before, once a ``PreparedReply`` that named the last one no longer holds.
    ///
    /// Read before each request, on any thread.
    var edition: Int { get }

    /// Fields of every answer, also of the server's own refusals, unless they have them already.
    ///
    /// - Parameter headers: of the request; nil when it could not be read.
    func everyAnswerFields(to headers: HTTPHeaders?) -> HTTPHeaders

    /// Replaces the text line of a refusal; nil keeps it.
    ///
    /// - Parameter target: as the client spelled it, valid or not: it may be why the request is refused.
    func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalWords?

    /// Replaces the text line of a refusal of a request that could not be read; nil keeps it.
    func words(forUnread refusal: String, _ status: HTTPResponseStatus) -> RefusalWords?
}

extension FileSource {
    package var acceptsBodies: Bool { false }

    package var edition: Int { 0 }

    package func passesAsSent(_ request: FileRequest) -> Bool { false }

    package func everyAnswerFields(to headers: HTTPHeaders?) -> HTTPHeaders { [:] }

    package func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalWords? { nil }

    package func words(forUnread refusal: String, _ status: HTTPResponseStatus) -> RefusalWords? { nil }
}

/// The body of a refusal that is more than a line of text.
package struct RefusalWords: Equatable, Sendable {
    package let contentType: String
    package let bytes: [UInt8]

    package init(contentType: String, bytes: [UInt8]) {
        self.contentType = contentType
        self.bytes = bytes
    }
}

/// A source for some requests only, for another source to turn to.
package protocol RequestDelegate: FileSource {
    /// Whether it answers this request.
    func takes(_ request: FileRequest) -> Bool
}
