package import HTTPCore
package import NIOHTTP1

/// Why the server answered a request itself and closed the connection.
///
/// The bytes after such a request cannot be trusted to begin a request.
package enum RequestFault: Error, Equatable, Sendable {
    /// Not valid HTTP/1. The text names the violated rule.
    case malformed(String)
    case target(RequestPathError)
    /// A major version other than 1.
    case unsupportedVersion
    /// A well-formed method that is not defined by HTTP.
    case unknownMethod
    case unsupportedTransferCoding
    /// An Expect field other than `100-continue`.
    case unsupportedExpectation
    case targetTooLong
    case headTooLarge
    case bodyTooLarge
    /// The head or the body did not arrive within its time.
    case tooSlow
    /// All places for connections are taken.
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

    /// The text for the client.
    ///
    /// It never contains bytes of the request.
    package var message: String {
        switch self {
        case .malformed(let rule): "Bad request: \(rule)."
        case .target: "Bad request: the target is not a path."
        case .unsupportedVersion: "Only HTTP/1.1 and HTTP/1.0 are supported."
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
