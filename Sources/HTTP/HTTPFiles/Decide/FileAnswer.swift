package import NIOHTTP1

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

extension FileAnswer {
    /// The same answer, with which `lease` ends; with nothing but a file it ends at once.
    package func holding(_ lease: Lease?) -> FileAnswer {
        guard let lease, case .file(var file) = self else { return self }
        file.lease = lease
        return .file(file)
    }

    /// The same file or bytes as the page of an error; other answers stay as they are.
    package func asPage(of status: HTTPResponseStatus) -> FileAnswer {
        switch self {
        case .file(var file):
            file.status = status
            return .file(file)
        case .bytes(let bytes):
            return .bytes(
                ServedBytes(
                    status: status,
                    bytes: bytes.bytes,
                    contentType: bytes.contentType,
                    cacheControl: bytes.cacheControl,
                    headers: bytes.headers,
                    isWhole: bytes.isWhole
                )
            )
        case .files, .stream, .tunnel, .refused: return self
        }
    }

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
