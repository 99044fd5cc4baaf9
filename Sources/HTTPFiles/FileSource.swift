package import NIOHTTP1

/// What stands behind a server: a request in, an answer out.
///
/// Asked once for each request, on any thread, for many connections at a time. The source says *what* there is; which
/// part of it is sent, and whether at all, is the server's business: conditions, ranges, HEAD.
package protocol FileSource: Sendable {
    /// Whether POST, PUT, PATCH, DELETE and OPTIONS reach the source; if not, they are answered 405.
    var acceptsBodies: Bool { get }

    /// Cancelled only when the server's drain deadline has passed.
    func answer(_ request: FileRequest) async -> FileAnswer
}

extension FileSource {
    package var acceptsBodies: Bool { false }
}

/// What a source answers.
package enum FileAnswer: Sendable {
    /// The bytes of a file, streamed.
    case file(ServedFile)
    /// Bytes in memory.
    case bytes(ServedBytes)
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
