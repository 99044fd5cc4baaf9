package import HTTPFiles
package import NIOHTTP1
package import PatchFormat

/// The answer of a route.
package struct APIAnswer: Sendable {
    package enum Content: Sendable {
        case none
        case json(JSON)
        case bytes([UInt8], type: String)
        case stream(ServedStream)
    }

    package let status: Int
    package let content: Content
    package let headers: HTTPHeaders

    package init(_ content: Content, status: Int = 200, headers: HTTPHeaders = [:]) {
        (self.content, self.status, self.headers) = (content, status, headers)
    }

    package static func json(_ json: JSON, status: Int = 200, headers: HTTPHeaders = [:]) -> APIAnswer {
        APIAnswer(.json(json), status: status, headers: headers)
    }

    package static func bytes(_ bytes: [UInt8], type: String = "application/octet-stream") -> APIAnswer {
        APIAnswer(.bytes(bytes, type: type))
    }

    package static func stream(_ stream: ServedStream) -> APIAnswer { APIAnswer(.stream(stream)) }

    package static let nothing = APIAnswer(.none, status: 204)

    /// Returns the answer in the form of a ``FileSource``.
    ///
    /// - Parameter isWhole: See ``ServedBytes/isWhole``.
    package func served(isWhole: Bool = false) -> FileAnswer {
        let (bytes, type): ([UInt8], String)
        switch content {
        case .none: (bytes, type) = ([], "application/json")
        case .json(let json): (bytes, type) = (json.fileBytes + [0x0A], "application/json")
        case .bytes(let content, let named): (bytes, type) = (content, named)
        case .stream(let stream): return .stream(stream)
        }
        return .bytes(
            ServedBytes(
                status: HTTPResponseStatus(statusCode: status),
                bytes: bytes,
                contentType: type,
                cacheControl: "no-store",
                headers: headers,
                isWhole: isWhole
            )
        )
    }
}

extension APIProblem {
    /// Returns the problem as an answer.
    ///
    /// - Parameter headers: Further fields.
    package func answer(_ headers: HTTPHeaders = [:]) -> APIAnswer {
        var headers = headers
        if let allow { headers.add(name: "Allow", value: allow) }
        if let retryAfter { headers.add(name: "Retry-After", value: "\(retryAfter)") }
        return APIAnswer(.bytes(bytes, type: Self.mediaType), status: status, headers: headers)
    }
}
