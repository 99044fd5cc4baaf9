import HTTPAPI
import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchCompression
import PatchCrypto
import PatchFormat
import ServerRecords

/// A request that the gate admitted.
struct APICall: Sendable {
    let request: FileRequest
    let parameters: [String: String]
    /// The token, nil only for routes that need none.
    let token: APIToken?
    let body: APIBody

    /// Whether the caller is a program on this machine and not a proxy for another machine.
    var isFromThisMachine: Bool {
        let forwarding = ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"]
        guard !forwarding.contains(where: request.headers.contains(name:)) else { return false }
        // A proxy is also recognized by another machine's name in Host.
        let named = request.headers.first(name: "Host").flatMap { ServerURL("http://\($0)") }
        return request.remoteAddress.map(ListenerNames.isLoopback) == true && named?.isLoopback == true
    }

    var actor: Actor {
        token.map { .token(id: $0.id, name: $0.name) } ?? .server
    }

    /// Checks the right in a channel that only the body or the upload names, so the gate cannot check it.
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
        guard let text = parameters[parameter] else { throw .notFound("There is nothing here.") }
        return text
    }

    func number(_ parameter: String, in range: ClosedRange<Int>) throws(APIProblem) -> Int {
        try Self.number(try text(parameter), named: parameter, in: range)
    }

    /// A number in the query, or nil if it is missing.
    func query(_ name: String, in range: ClosedRange<Int>) throws(APIProblem) -> Int? {
        try queryText(name).map { (text) throws(APIProblem) in try Self.number(text, named: name, in: range) }
    }

    /// A name in the query, or nil if it is missing.
    func query<Name: ParsedName>(_ name: String, as type: Name.Type = Name.self) throws(APIProblem) -> Name? {
        try queryText(name).map { (text) throws(APIProblem) in
            guard let value = Name(text) else { throw .badRequest("\(name) \(Name.rule)", rule: Name.rule) }
            return value
        }
    }

    func queryText(_ name: String) throws(APIProblem) -> String? {
        let values = QueryMember.all(of: request.query).filter { $0.spelledName == name }
        guard values.count <= 1 else { throw .badRequest("\(name) is twice in the query") }
        return values.first.map { $0.value(plusIsSpace: false) ?? $0.spelledValue }
    }

    func header(_ name: String, in range: ClosedRange<Int>) throws(APIProblem) -> Int {
        guard let text = request.headers.combined(name) else { throw .badRequest("the field \(name) is missing") }
        return try Self.number(text, named: name, in: range)
    }

    /// The compression of the body, or nil if it is not compressed.
    func contentCoding() throws(APIProblem) -> CompressionFormat? {
        guard let text = request.headers.combined("Content-Encoding"), text.lowercased() != "identity"
        else { return nil }
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

    /// The body as a stream.
    func bytes() throws(APIProblem) -> RequestStream {
        guard let stream = request.stream else { throw .badRequest("the body did not come whole") }
        return stream
    }

    /// The body as an object with only the members of the route's description.
    func fields() async throws(APIProblem) -> Fields {
        guard case .json(let schema, let limit, _, _) = body else { preconditionFailure("this route accepts no JSON") }
        let stream = try bytes()
        let fields = try await JSONBody.fields(
            of: stream,
            type: request.headers.combined("Content-Type"),
            length: stream.length,
            limit: limit
        )
        // A misspelt member such as `expct` would have no effect, so it is rejected.
        if let name = schema.unknownMember(in: .object(fields.object)) {
            throw .malformed(FormatError(fields.document, field: name, rule: "is not a member of this request"))
        }
        return fields
    }
}

extension HTTPHeaders {
    /// The combined value of all lines of a field (RFC 9110 §5.3), or nil if it is missing.
    func combined(_ name: String) -> String? {
        let values = self[name]
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
