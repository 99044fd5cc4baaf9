package import HTTPCore
package import NIOHTTP1

/// A source's answer to a request.
package enum FileAnswer: Sendable {
    /// The bytes of a file, streamed.
    case file(ServedFile)
    /// The bytes of several files, one after the other.
    case files(ServedFiles)
    /// Bytes in memory.
    case bytes(ServedBytes)
    /// Bytes that are sent as they are made.
    case stream(ServedStream)
    /// A switch to another protocol.
    case tunnel(ServedTunnel)
    /// A status of 300 or above with one line of text. `Cache-Control: no-cache` is added unless `headers` has that field.
    case refused(HTTPResponseStatus, message: String, headers: HTTPHeaders)

    /// 404.
    package static var notFound: FileAnswer {
        .refused(.notFound, message: "Not found.", headers: [:])
    }
}

extension ListenerNames.Fault {
    package var answer: FileAnswer {
        switch self {
        case .otherName: .refused(.misdirectedRequest, message: message, headers: ["Cache-Control": "no-store"])
        case .foreignOrigin: .refused(.forbidden, message: message, headers: ["Cache-Control": "no-store"])
        }
    }
}

extension FileAnswer {
    /// Returns the same answer with `lease`, which ends with the response.
    ///
    /// For an answer that is not a file, the lease ends at once.
    package func holding(_ lease: Lease?) -> FileAnswer {
        guard let lease, case .file(var file) = self else { return self }
        file.lease = lease
        return .file(file)
    }

    /// Returns the same file or bytes as an error page.
    ///
    /// Other answers are unchanged.
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

    /// Returns the same answer with the missing ones of these fields added.
    ///
    /// `Vary` is extended.
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
            // A browser's rules about documents do not apply to the protocol after the switch.
            return self
        case .refused(let status, let message, var headers):
            headers.add(missing: fields)
            return .refused(status, message: message, headers: headers)
        }
    }
}

extension HTTPHeaders {
    /// Adds the fields whose name is missing.
    ///
    /// `Vary` and `Set-Cookie` are extended by further values.
    package mutating func add(missing fields: HTTPHeaders) {
        for (name, value) in fields {
            let grows = ["vary", "set-cookie"].contains(name.lowercased())
            if grows ? !self[name].contains(value) : !contains(name: name) { add(name: name, value: value) }
        }
    }
}
