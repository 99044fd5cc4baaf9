package import NIOHTTP1

/// The right that a route of an API needs.
package protocol APIAccess: Sendable {
    /// Whether the request must have a token.
    var needsToken: Bool { get }
    /// The right as a sentence; nil if it is not described.
    var about: String? { get }
}

/// The access of an API without tokens.
extension Never: APIAccess {
    package var needsToken: Bool { switch self {} }
    package var about: String? { switch self {} }
}

/// One operation of an API: its description, the right that it needs, and its work.
///
/// One table of routes makes routing, checks and the OpenAPI description.
package struct APIRoute<Access: APIAccess, Call: Sendable>: Sendable {
    package typealias Work = @Sendable (Call) async throws -> APIAnswer

    package let method: HTTPMethod
    /// The path, with `{app}` for a variable part.
    package let path: String
    package let name: String
    package let about: String
    /// The required right, or nil if every caller of the API has it.
    package let access: Access?
    package let query: [APIParameter]
    package let headers: [APIParameter]
    package let body: APIBody
    package let answers: [DescribedAnswer]
    /// Statuses of problems in addition to those of every operation.
    package let problems: [Int]
    package let work: Work

    /// - Parameter access: Without a default, so that no route is open by omission.
    package init(
        method: HTTPMethod,
        path: String,
        name: String,
        about: String,
        access: Access?,
        query: [APIParameter] = [],
        headers: [APIParameter] = [],
        body: APIBody = .none,
        answers: [DescribedAnswer],
        problems: [Int] = [],
        work: @escaping Work
    ) {
        (self.method, self.path, self.name, self.about, self.access) = (method, path, name, about, access)
        (self.query, self.headers, self.body) = (query, headers, body)
        (self.answers, self.problems, self.work) = (answers, problems, work)
    }

    package var needsToken: Bool { access?.needsToken ?? false }

    /// The names in braces, in order.
    package var pathParameters: [String] {
        path.split(separator: "/").compactMap { Self.variable($0) }
    }

    /// Returns the values of the variable parts of a path, or nil for a path of another route.
    package func parameters(of segments: [String]) -> [String: String]? {
        let parts = path.split(separator: "/")
        guard parts.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            if let name = Self.variable(part) {
                parameters[name] = segment
            } else if part != segment {
                return nil
            }
        }
        return parameters
    }

    private static func variable(_ part: Substring) -> String? {
        part.hasPrefix("{") && part.hasSuffix("}") ? String(part.dropFirst().dropLast()) : nil
    }
}

extension APIRoute where Access == Never {
    /// A route of an API without tokens.
    package init(
        method: HTTPMethod,
        path: String,
        name: String,
        about: String,
        query: [APIParameter] = [],
        headers: [APIParameter] = [],
        body: APIBody = .none,
        answers: [DescribedAnswer],
        problems: [Int] = [],
        work: @escaping Work
    ) {
        self.init(
            method: method,
            path: path,
            name: name,
            about: about,
            access: nil,
            query: query,
            headers: headers,
            body: body,
            answers: answers,
            problems: problems,
            work: work
        )
    }
}

/// A parameter of a path, a query, or the header of a request.
package struct APIParameter: Sendable {
    package let name: String
    package let about: String?
    package let schema: APISchema
    package let isRequired: Bool

    package init(name: String, about: String?, schema: APISchema, isRequired: Bool = false) {
        (self.name, self.about, self.schema, self.isRequired) = (name, about, schema, isRequired)
    }
}

/// The body that a route accepts.
package enum APIBody: Sendable {
    case none
    /// An object of at most `limit` bytes.
    case json(APISchema, limit: Int, type: String = "application/json", isRequired: Bool = true)
    /// Bytes of any number, used while they arrive.
    case bytes

    /// The largest document with one deadline for the whole.
    ///
    /// A larger one has a minimum rate.
    private static let smallLimit = 1024 * 1024

    /// Whether the body has a minimum rate in place of one deadline.
    package var takesLong: Bool {
        switch self {
        case .none: false
        case .json(_, let limit, _, _): limit > Self.smallLimit
        case .bytes: true
        }
    }
}

/// An answer of a route, as listed in its description.
package struct DescribedAnswer: Sendable {
    package let status: Int
    package let about: String
    package let schema: APISchema?
    package let mediaType: String

    package init(status: Int, about: String, schema: APISchema? = nil, mediaType: String = "application/json") {
        (self.status, self.about, self.schema, self.mediaType) = (status, about, schema, mediaType)
    }
}
