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

    /// Cancelled when the server's drain deadline has passed; a request whose body is taken as a stream also when its
    /// client goes away.
    func answer(_ request: FileRequest) async -> FileAnswer
}

extension FileSource {
    package var acceptsBodies: Bool { false }

    package func intake(of request: FileRequest) -> BodyIntake { .whole }
}

/// How a source takes the body of a request.
package enum BodyIntake: Equatable, Sendable {
    /// In ``FileRequest/body``, once all of it is there, up to ``FileServerConfiguration/maxBodyBytes``.
    case whole
    /// In ``FileRequest/stream``, while it arrives, of any size.
    case stream
}

/// What a source answers.
package enum FileAnswer: Sendable {
    /// The bytes of a file, streamed.
    case file(ServedFile)
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

extension FileAnswer {
    /// The same answer with those of these fields that it does not have; `Vary` grows.
    package func adding(missing fields: HTTPHeaders) -> FileAnswer {
        switch self {
        case .file(var file):
            file.headers.add(missing: fields)
            return .file(file)
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
    /// Adds what does not stand here by name; `Vary` grows.
    package mutating func add(missing fields: HTTPHeaders) {
        for (name, value) in fields where name.lowercased() == "vary" || !contains(name: name) {
            add(name: name, value: value)
        }
    }
}
