package import NIOHTTP1

/// A head that another parser has read, held to the rules of ``RequestHead``, and what it says of the body behind it.
package struct CheckedHead: Equatable, Sendable {
    package let method: HTTPMethod
    /// As received.
    package let target: String
    package let headers: HTTPHeaders
    /// Bytes of the body; nil for a chunked one, whose end is known when it comes.
    package let bodyLength: Int?
    /// Whether the client waits for `100 Continue` before it sends the body.
    package let expectsContinue: Bool
    /// Whether the client leaves the connection open after the answer.
    package let keepsConnection: Bool
    /// See ``FileRequest/spellingFault``.
    package let spellingFault: String?

    package init(
        _ method: HTTPMethod,
        _ target: String,
        minorVersion: Int,
        _ headers: HTTPHeaders,
        maxTargetBytes: Int
    ) throws(RequestFault) {
        guard target.utf8.count <= maxTargetBytes else { throw .targetTooLong }
        for (_, value) in headers where !value.utf8.allSatisfy(\.isFieldValueCharacter) {
            throw .malformed("a field holds a control character")
        }
        let head = RequestHead(method, target, minorVersion: minorVersion, headers)
        try RequestHead.checkHost(headers["Host"], minorVersion: minorVersion)
        let framing = try BodyFraming(head)
        if MethodRule(method, acceptsBodies: true) == .unknown { throw .unknownMethod }
        try head.checkBody(framing)
        self.method = method
        self.target = target
        self.headers = headers
        switch framing {
        case .none: bodyLength = 0
        case .length(let length): bodyLength = length
        case .chunked: bodyLength = nil
        }
        expectsContinue = try head.expectsContinue() && framing != .none
        // NIO's parser reads nothing behind a request that asks for another protocol.
        keepsConnection = head.wantsKeepAlive && !headers.contains(name: "Upgrade")
        do throws(RequestPathError) {
            spellingFault = FileRequest(head, try RequestTarget(parsing: target)).spellingFault
        } catch { throw .target(error) }
    }
}

extension RequestHead {
    init(_ method: HTTPMethod, _ target: String, minorVersion: Int, _ headers: HTTPHeaders) {
        self.method = method
        self.target = target
        self.minorVersion = minorVersion
        self.headers = headers
    }

    func checkBody(_ framing: BodyFraming) throws(RequestFault) {
        if framing != .none, method == .GET || method == .HEAD {
            // Undefined by RFC 9110 §9.3.1, and a way to smuggle.
            throw .malformed("a body in a GET or HEAD request")
        }
    }

    func expectsContinue() throws(RequestFault) -> Bool {
        // RFC 9110 §10.1.1: an HTTP/1.0 client cannot expect anything.
        guard minorVersion >= 1 else { return false }
        let expectations = headers["Expect"].flatMap(\.listElements)
        guard expectations.allSatisfy({ $0.lowercased() == "100-continue" }) else { throw .unsupportedExpectation }
        return !expectations.isEmpty
    }
}
