package import NIOHTTP1

/// Why a request was answered by the server itself and the connection closed: after it, the bytes that follow cannot
/// be trusted to begin a request.
package enum RequestFault: Error, Equatable, Sendable {
    /// Not HTTP/1: the text says which rule is broken.
    case malformed(String)
    case target(RequestPathError)
    /// A major version other than 1.
    case unsupportedVersion
    /// A well-formed method that HTTP does not define.
    case unknownMethod
    case unsupportedTransferCoding
    /// An Expect other than `100-continue`.
    case unsupportedExpectation
    case targetTooLong
    case headTooLarge
    case bodyTooLarge
    /// The head or the body did not arrive within its time.
    case tooSlow
    /// More connections than the server serves at once.
    case tooManyConnections

    package var status: HTTPResponseStatus {
        switch self {
        case .malformed, .target: .badRequest
        case .unsupportedVersion: .httpVersionNotSupported
        case .unknownMethod, .unsupportedTransferCoding: .notImplemented
        case .unsupportedExpectation: .expectationFailed
        case .targetTooLong: .uriTooLong
        case .headTooLarge: .requestHeaderFieldsTooLarge
        case .bodyTooLarge: .payloadTooLarge
        case .tooSlow: .requestTimeout
        case .tooManyConnections: .serviceUnavailable
        }
    }

    /// What the client reads; never a byte of its own request.
    package var message: String {
        switch self {
        case .malformed(let rule): "Bad request: \(rule)."
        case .target: "Bad request: the target is not a path."
        case .unsupportedVersion: "Only HTTP/1.1 and HTTP/1.0 are spoken here."
        case .unknownMethod: "Unknown method."
        case .unsupportedTransferCoding: "Unknown transfer coding."
        case .unsupportedExpectation: "Unknown expectation."
        case .targetTooLong: "The target is too long."
        case .headTooLarge: "The request's head is too large."
        case .bodyTooLarge: "The request's body is too large."
        case .tooSlow: "The request took too long to arrive."
        case .tooManyConnections: "Too many connections."
        }
    }

    package static let headEndsEarly = RequestFault.malformed("the head ends early")
    package static let bodyEndsEarly = RequestFault.malformed("the body ends early")
}
