package import HTTPCore
import NIOCore
package import NIOHTTP1

/// One request as a source receives it: parsed, within limits, and safe to look up.
package struct FileRequest: Sendable {
    /// GET or HEAD.
    ///
    /// For a source that accepts bodies also POST, PUT, PATCH, DELETE or OPTIONS. For one that passes requests on, any except
    /// CONNECT and TRACE.
    package let method: HTTPMethod
    package let path: RequestPath
    /// The raw query without `?`, or nil if there is none.
    package private(set) var query: String?
    package private(set) var headers: HTTPHeaders
    /// The body, at most ``FileServerConfiguration/maxBodyBytes``.
    ///
    /// Empty for GET and HEAD, and for a body received as a stream.
    package private(set) var body: [UInt8]
    /// The body, for a source that receives it as a stream (``BodyIntake/stream``).
    ///
    /// Nil for all others.
    package private(set) var stream: RequestStream?
    /// The path as the client sent it.
    package let sentPath: SentPath
    /// The path as the client spells it, percent-encoded, without its dot segments and empty segments.
    package let spelledPath: String
    /// Whether the path has nothing to remove: no `..`, no `.`, no empty segment.
    package let isPlain: Bool
    /// The protocol that the client asks to switch to, in lower case: `websocket` (RFC 9110 §7.8).
    package let upgrade: String?
    /// The client's address without its port.
    ///
    /// Nil if it is unknown, or if an answer is being prepared, because such an answer is for all clients.
    package private(set) var remoteAddress: String?
    /// The other local user that made the request, if connections are shared by user.
    ///
    /// Nil for this process's own user, for root, and if unknown.
    package private(set) var user: UInt32?
    /// Notes that the client has shown a right.
    ///
    /// Nil for a request that was not received over a connection.
    package private(set) var right: ClientAuthorization?

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

    /// Makes a request of our own for a target.
    ///
    /// - Parameter keepsEncoded: Whether the target may have a path that only another server can look up, see
    ///   ``FileSource/passesAsSent(_:)``.
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

    /// Returns the same request with another query.
    package func with(query: String?) -> FileRequest {
        var request = self
        request.query = query
        return request
    }

    /// Returns the same request with other fields.
    package func with(headers: HTTPHeaders) -> FileRequest {
        var request = self
        request.headers = headers
        return request
    }

    func from(_ channel: any Channel, _ group: ClientGroup, _ right: ClientAuthorization) -> FileRequest {
        var request = with(right)
        request.user = group.user
        request.remoteAddress = channel.remoteAddress?.ipAddress
        return request
    }

    package func with(_ right: ClientAuthorization) -> FileRequest {
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

/// Whether a method is served.
///
/// Decided before the target is examined.
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

    /// Whether a source that passes requests on may receive the method.
    ///
    /// CONNECT asks for a tunnel, and TRACE reveals the request's own cookies.
    static func mayPass(_ method: HTTPMethod) -> Bool { method != .CONNECT && method != .TRACE }

    /// The methods of RFC 9110 §9.3, PATCH of RFC 5789, and the registered QUERY.
    private static let standard: Set = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
    ]
}
