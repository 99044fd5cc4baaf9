import HTTPAPI
import HTTPFiles
import HTTPTypes
import Hummingbird
import NIOCore
import PatchFormat
import ServerRecords

/// A request that was let in: who asks, and for what.
struct APICall: Sendable {
    let request: Request
    let parameters: Parameters
    /// Nil only where everybody is let in.
    let token: APIToken?
    let body: APIBody
    /// The address at the other end of the connection.
    let remoteAddress: String?

    /// Whether the caller is a program on this machine, and not a proxy that asks for another machine.
    var isFromThisMachine: Bool {
        let forwarding = ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"].compactMap { HTTPField.Name($0) }
        guard !forwarding.contains(where: { request.headers[$0] != nil }) else { return false }
        // A name of another machine in Host is a proxy's, too.
        let named = request.head.authority.flatMap { ServerURL("http://\($0)") }
        return remoteAddress.map(ListenerNames.isLoopback) == true && named?.isLoopback == true
    }

    var actor: Actor {
        token.map { .token(id: $0.id, name: $0.name) } ?? .server
    }

    /// Checks the right that the gate cannot check: only the body, or the upload, names the channel.
    func check(_ role: AccessRole, on app: AppID, in channel: ChannelName) throws(APIProblem) {
        guard let token else { return }
        try token.check(role, on: app, in: channel)
    }

    func name<Name: ParsedName>(_ parameter: String, as type: Name.Type = Name.self) throws(APIProblem) -> Name {
        guard let name = Name(try text(parameter)) else {
            throw .badRequest("\(parameter) \(Name.rule)", rule: Name.rule)
        }
        return name
    }

    func app() throws(APIProblem) -> AppID { try name("app") }
    func channel() throws(APIProblem) -> ChannelName { try name("channel") }

    func digest(_ parameter: String) throws(APIProblem) -> SHA256Digest {
        guard let digest = SHA256Digest(hex: try text(parameter)) else {
            throw .badRequest("\(parameter) must be 64 lowercase hex digits")
        }
        return digest
    }

    func text(_ parameter: String) throws(APIProblem) -> String {
        guard let text = parameters.get(parameter) else { throw .notFound("There is nothing here.") }
        return text
    }

    func number(_ parameter: String, in range: ClosedRange<Int>) throws(APIProblem) -> Int {
        try Self.number(try text(parameter), named: parameter, in: range)
    }

    /// A query's number; nil where it does not stand.
    func query(_ name: String, in range: ClosedRange<Int>) throws(APIProblem) -> Int? {
        try queryText(name).map { (text) throws(APIProblem) in try Self.number(text, named: name, in: range) }
    }

    /// A query's name; nil where it does not stand.
    func query<Name: ParsedName>(_ name: String, as type: Name.Type = Name.self) throws(APIProblem) -> Name? {
        try queryText(name).map { (text) throws(APIProblem) in
            guard let value = Name(text) else { throw .badRequest("\(name) \(Name.rule)", rule: Name.rule) }
            return value
        }
    }

    func queryText(_ name: String) throws(APIProblem) -> String? {
        let values = request.uri.queryParameters.getAll(name)
        guard values.count <= 1 else { throw .badRequest("\(name) stands twice in the query") }
        return values.first.map { String($0) }
    }

    func header(_ name: String, in range: ClosedRange<Int>) throws(APIProblem) -> Int {
        guard let field = HTTPField.Name(name), let text = request.headers[field] else {
            throw .badRequest("the field \(name) is missing")
        }
        return try Self.number(text, named: name, in: range)
    }

    /// What the body is compressed by; nil for as it is.
    func contentCoding() throws(APIProblem) -> CompressionFormat? {
        guard let text = request.headers[.contentEncoding], text.lowercased() != "identity" else { return nil }
        guard let format = CompressionFormat(rawValue: text.lowercased()) else {
            throw APIProblem(415, "unsupportedMediaType", "the body's Content-Encoding must be zstd, gzip or identity")
        }
        return format
    }

    private static func number(_ text: String, named name: String, in range: ClosedRange<Int>) throws(APIProblem) -> Int
    {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) } && text.utf8.count <= 16
        guard isPlain, let number = Int(text), range.contains(number) else {
            throw .badRequest("\(name) must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The body as an object that has no member besides those of the endpoint's description.
    func fields() async throws(APIProblem) -> Fields {
        guard case .json(let schema, let limit, _, _) = body else { preconditionFailure("this endpoint takes no JSON") }
        let fields = try await JSONBody.fields(
            of: request.body,
            type: request.headers[.contentType],
            length: request.headers[.contentLength].flatMap { Int($0) },
            limit: limit
        )
        // A misspelt member, such as `expct`, would be ignored: that is worse than a refusal.
        if let name = schema.unknownMember(in: .object(fields.object)) {
            throw .malformed(FormatError(fields.document, field: name, rule: "is not a member of this request"))
        }
        return fields
    }
}
