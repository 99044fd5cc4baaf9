import NIOCore
package import NIOHTTP1

/// One request as a source sees it: parsed, bounded, and safe to look up.
package struct FileRequest: Sendable {
    /// GET or HEAD; for a source that accepts bodies also POST, PUT, PATCH, DELETE or OPTIONS; for one that passes requests on any but
    /// CONNECT and TRACE.
    package let method: HTTPMethod
    package let path: RequestPath
    /// Raw, without `?`; nil without one.
    package private(set) var query: String?
    package private(set) var headers: HTTPHeaders
    /// At most ``FileServerConfiguration/maxBodyBytes``; empty for GET and HEAD, and for a body taken as a stream.
    package private(set) var body: [UInt8]
    /// The body, for a source that takes it so (``BodyIntake/stream``); nil for all others.
    package private(set) var stream: RequestStream?
    /// The path as the client sent it.
    package let sentPath: SentPath
    /// The path as the client spells it, percent-encoded, without its dot segments and empty segments.
    package let spelledPath: String
    /// Whether the client spells the path as it is, with nothing to remove: no `..`, no `.`, no empty segment.
    package let isPlain: Bool
    /// The protocol that the client would rather speak, in lower case: `websocket` (RFC 9110 §7.8).
    package let upgrade: String?
    /// The address at the other end of the connection, without its port; nil where an answer is prepared, which is
    /// everybody's, and where it is unknown.
    package private(set) var remoteAddress: String?
    /// The other user of this machine that asks, where connections are shared out by user; nil for this process's own user,
    /// for root, and where it is unknown.
    package private(set) var user: UInt32?
    /// Where a source says that a right was shown; nil for a request that did not come over a connection.
    package private(set) var right: ShownRight?

    package init(
        method: HTTPMethod,
        path: RequestPath,
        query: String? = nil,
        headers: HTTPHeaders = [:],
        body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        spelledPath = path.encoded
        sentPath = SentPath(path.encoded)
        isPlain = true
        upgrade = nil
    }

    init(_ head: RequestHead, _ target: RequestTarget) {
        method = head.method
        path = target.path
        query = target.query
        headers = head.headers
        body = []
        spelledPath = target.spelledPath
        sentPath = target.sentPath
        isPlain = target.isPlain
        upgrade = head.upgrade
    }

    /// A request of our own for what a target names.
    ///
    /// - Parameter keepsEncoded: whether it may name what only another server has, see ``FileSource/passesAsSent(_:)``.
    package init(getting target: String, headers: HTTPHeaders, keepsEncoded: Bool = false) throws(RequestPathError) {
        let target = try RequestTarget(parsing: target, keepsEncoded: keepsEncoded)
        method = .GET
        path = target.path
        query = target.query
        self.headers = headers
        body = []
        spelledPath = target.spelledPath
        sentPath = target.sentPath
        isPlain = target.isPlain
        upgrade = nil
    }

    /// The same request, asking something else of the same path.
    package func with(query: String?) -> FileRequest {
        var request = self
        request.query = query
        return request
    }

    /// The same request with other fields.
    package func with(headers: HTTPHeaders) -> FileRequest {
        var request = self
        request.headers = headers
        return request
    }

    func from(_ channel: any Channel, _ group: ClientGroup, _ right: ShownRight) -> FileRequest {
        var request = with(right)
        request.user = group.user
        request.remoteAddress = channel.remoteAddress?.ipAddress
        return request
    }

    package func with(_ right: ShownRight) -> FileRequest {
        var request = self
        request.right = right
        return request
    }

    package func with(body: [UInt8]) -> FileRequest {
        var request = self
        request.body = body
        return request
    }

    func with(_ stream: RequestStream) -> FileRequest {
        var request = self
        request.stream = stream
        return request
    }
}

/// Whether a method is served, decided before the target is looked at.
enum MethodRule: Equatable, Sendable {
    case served
    /// 405 with this Allow field.
    case notAllowed(allow: String)
    /// 501.
    case unknown

    init(_ method: HTTPMethod, acceptsBodies: Bool) {
        let withBodies = acceptsBodies ? ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] : []
        let allowed = ["GET", "HEAD"] + withBodies
        if allowed.contains(method.rawValue) {
            self = .served
        } else if Self.standard.contains(method.rawValue) {
            self = .notAllowed(allow: allowed.joined(separator: ", "))
        } else {
            self = .unknown
        }
    }

    /// Whether a source that passes requests on may get it: CONNECT asks for a tunnel, and TRACE shows the request's own cookies.
    static func mayPass(_ method: HTTPMethod) -> Bool { method != .CONNECT && method != .TRACE }

    /// RFC 9110 §9.3, PATCH of RFC 5789, and QUERY, which is registered too.
    private static let standard: Set = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
    ]
}
