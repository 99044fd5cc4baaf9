import HTTPTypes
import PatchFormat
import ServerRecords

/// One operation of the API: its documentation, the right that it needs, and its work.
struct APIEndpoint: Sendable {
    enum Access: Sendable, Equatable {
        /// Nobody has to show a token.
        case everybody
        /// Any valid token.
        case anyone
        /// A role on the app that the path names, or in its channel if the path names one.
        ///
        /// The role viewer on an app is also had by a token of one of its channels.
        case app(AccessRole)
        /// A role in the channel of the release that the request is about; see ``APICall/check(_:on:in:)``.
        case release(AccessRole)
        /// A role on the server itself, above its apps.
        case server(AccessRole)
    }

    struct Parameter: Sendable {
        let name: String
        let about: String
        let schema: APISchema
    }

    enum Body: Sendable {
        case none
        /// At most so many bytes.
        case json(APISchema, limit: Int)
        /// Of any size, taken while it arrives.
        case bytes

        /// More than every line sends within a minute.
        static let smallLimit = 1024 * 1024

        /// Whether a least rate bounds its time, and not a minute for the whole.
        var takesLong: Bool {
            switch self {
            case .none: false
            case .json(_, let limit): limit > Self.smallLimit
            case .bytes: true
            }
        }
    }

    struct Answer: Sendable {
        let status: Int
        let about: String
        let schema: APISchema?
    }

    let method: HTTPRequest.Method
    /// Below `/api/v1`, with `{app}` for a variable part.
    let path: String
    let name: String
    let about: String
    let access: Access
    var query: [Parameter] = []
    var headers: [Parameter] = []
    var body = Body.none
    var answers: [Answer]
    /// Problems besides those of every operation: 400, 401, 403, 404, 413, 415, 429, 503.
    var problems: [Int] = []
    let handle: @Sendable (APICall) async throws -> APIAnswer

    /// Names in braces, in order.
    var pathParameters: [String] {
        path.split(separator: "/").compactMap { part in
            part.hasPrefix("{") && part.hasSuffix("}") ? String(part.dropFirst().dropLast()) : nil
        }
    }
}

/// The answer of an endpoint.
struct APIAnswer: Sendable {
    var status = 200
    var json: JSON?
    /// Instead of JSON.
    var bytes: [UInt8]?
    var headers: [(String, String)] = []

    static func json(_ json: JSON, status: Int = 200) -> APIAnswer { APIAnswer(status: status, json: json) }
    static func bytes(_ bytes: [UInt8]) -> APIAnswer { APIAnswer(bytes: bytes) }
    static let nothing = APIAnswer(status: 204)
}
