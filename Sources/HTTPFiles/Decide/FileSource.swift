package import NIOHTTP1

/// What stands behind a server: a request in, an answer out.
///
/// Asked once for each request, on any thread, for many connections at a time. The source says *what* there is; which
/// part of it is sent, and whether at all, is the server's business: conditions, ranges, HEAD.
package protocol FileSource: Sendable {
    /// Whether POST, PUT, PATCH, DELETE and OPTIONS reach the source; if not, they are answered 405.
    var acceptsBodies: Bool { get }

    /// How the body of this request is taken; asked once its head is there, with no body yet, whether one follows or not.
    func intake(of request: FileRequest) -> BodyIntake

    /// The answer to a GET or HEAD when it is known at once; nil sends the request to ``answer(_:)``.
    ///
    /// Asked on an event loop, where nothing may wait for more than a local disk: no network, no lock that is held for
    /// long, no large file read. It may be asked and its answer not used, when the file is not what it should be; then
    /// ``answer(_:)`` decides again. So both must decide alike. A request that is taken as a stream (``intake(of:)``) is
    /// not asked for here.
    func prepared(_ request: FileRequest) -> PreparedReply?

    /// Another number than ever before when a reply of ``prepared(_:)`` that named the last one no longer holds.
    ///
    /// Read before each request, on any thread.
    var edition: Int { get }

    /// Fields of every answer, the server's own refusals too, where it does not have them already.
    ///
    /// - Parameter headers: of the request; nil when it could not be read.
    func everyAnswerFields(to headers: HTTPHeaders?) -> HTTPHeaders

    /// What stands in a refusal in place of its line of text; nil for the line.
    ///
    /// - Parameter target: as the client spelled it, whatever it holds: it may be why the request is refused.
    func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalWords?

    /// Cancelled when the server's drain deadline has passed; for ``BodyIntake/stream`` also when the client goes away.
    func answer(_ request: FileRequest) async -> FileAnswer
}

extension FileSource {
    package var acceptsBodies: Bool { false }

    package func intake(of request: FileRequest) -> BodyIntake { .whole }

    package var edition: Int { 0 }

    package func everyAnswerFields(to headers: HTTPHeaders?) -> HTTPHeaders { [:] }

    package func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalWords? { nil }

    package func prepared(_ request: FileRequest) -> PreparedReply? { nil }
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

/// How a source takes the body of a request.
package enum BodyIntake: Equatable, Sendable {
    /// In ``FileRequest/body``, once all of it is there, up to ``FileServerConfiguration/maxBodyBytes``.
    case whole
    /// In ``FileRequest/stream``, while it arrives, of any size; a client that sends no more, or is gone, wants nothing
    /// any more, and whoever answers is cancelled.
    case stream
    /// As ``stream``, for a source that keeps what comes: all that came before the client went away is read, then the
    /// body ends with an error if it is not whole, and nobody is cancelled.
    case keptStream
    /// As ``keptStream``, for a body that is small: all of it must come within ``FileServerConfiguration/bodyTimeout``.
    case keptDocument

    /// Whether what came is read although its client is gone.
    var isKept: Bool { self == .keptStream || self == .keptDocument }
}

/// What a source answers.
package enum FileAnswer: Sendable {
    /// The bytes of a file, streamed.
    case file(ServedFile)
    /// The bytes of several files, one after the other.
    case files(ServedFiles)
    /// Bytes in memory.
    case bytes(ServedBytes)
    /// Bytes as they come.
    case stream(ServedStream)
    /// Another protocol from here on.
    case tunnel(ServedTunnel)
    /// A status of 300 and above with one line of text for people; `Cache-Control: no-cache` unless `headers` has one.
    case refused(HTTPResponseStatus, message: String, headers: HTTPHeaders)

    /// 404.
    package static var notFound: FileAnswer {
        .refused(.notFound, message: "Not found.", headers: [:])
    }
}

/// What a source answers at once, and how long that holds.
package struct PreparedReply: Sendable {
    package let answer: FileAnswer
    /// While ``FileSource/edition`` is this number, a head of exactly the same bytes has the same answer; nil: only this
    /// once.
    ///
    /// The server remembers by it and does not ask again. What a remembered answer says of a file with a tag is true for
    /// as long as the file is the very one that it was, which is looked at each time; files without one, refusals and
    /// parts of files are always asked for again.
    package let edition: Int?

    package init(_ answer: FileAnswer, edition: Int? = nil) {
        self.answer = answer
        self.edition = edition
    }
}

extension FileAnswer {
    /// The same answer with those of these fields that it does not have; `Vary` grows.
    package func adding(missing fields: HTTPHeaders) -> FileAnswer {
        switch self {
        case .file(var file):
            file.headers.add(missing: fields)
            return .file(file)
        case .files(var files):
            files.headers.add(missing: fields)
            return .files(files)
        case .bytes(var bytes):
            bytes.headers.add(missing: fields)
            return .bytes(bytes)
        case .stream(var stream):
            stream.headers.add(missing: fields)
            return .stream(stream)
        case .tunnel:
            // What follows is not for a browser's rules about documents.
            return self
        case .refused(let status, let message, var headers):
            headers.add(missing: fields)
            return .refused(status, message: message, headers: headers)
        }
    }
}

extension HTTPHeaders {
    /// Adds what does not stand here by name; `Vary` and `Set-Cookie` grow by other values.
    package mutating func add(missing fields: HTTPHeaders) {
        for (name, value) in fields {
            let grows = ["vary", "set-cookie"].contains(name.lowercased())
            if grows ? !self[name].contains(value) : !contains(name: name) { add(name: name, value: value) }
        }
    }
}
