import HTTPAPI
import HTTPFiles
import NIOHTTP1
import PatchFormat

/// A request as a route receives it.
struct ControlCall: Sendable {
    /// The largest body in bytes.
    ///
    /// The response to a larger one is 413.
    static let bodyLimit = 64 * 1024

    let request: FileRequest
    /// The parameters of the path, by the names in braces.
    let parameters: [String: String]

    /// Returns a decoded value of the query, or an empty text for a name without a value.
    func query(_ name: String) -> String? {
        members.first { $0.name == name }?.value(plusIsSpace: true)
    }

    /// The members of the query, in its order.
    var members: [QueryMember] { QueryMember.all(of: request.query) }

    func name<Name: ParsedName>(_ name: String, as type: Name.Type = Name.self) throws(APIProblem) -> Name? {
        guard let text = query(name) else { return nil }
        guard let value = Name(text) else { throw .invalid(FormatError("the query", field: name, rule: Name.rule)) }
        return value
    }

    func time(_ name: String) throws(APIProblem) -> UTCTime? {
        guard let text = query(name) else { return nil }
        guard let time = UTCTime(text) else {
            throw .invalid(FormatError("the query", field: name, rule: "must be a time: YYYY-MM-DDTHH:MM:SSZ"))
        }
        return time
    }

    /// Returns the body's members.
    ///
    /// A request without a body has none.
    func fields() throws(APIProblem) -> Fields {
        let document = "the body"
        do throws(FormatError) {
            let bytes = request.body.isEmpty ? Array("{}".utf8) : request.body
            return try Fields(try JSON.document(bytes, named: document, limit: Self.bodyLimit), of: document)
        } catch { throw .invalid(error) }
    }

    /// Whether the request prefers an asynchronous response (RFC 7240).
    var prefersAsynchronous: Bool {
        request.headers[canonicalForm: "Prefer"].contains { $0.lowercased() == "respond-async" }
    }
}

extension APIBody {
    /// The schema of an object with these members.
    ///
    /// A request without a body has none of them.
    static func members(_ required: [(String, APISchema)] = [], optional: [(String, APISchema)] = []) -> APIBody {
        .json(.object(required, optional: optional), limit: ControlCall.bodyLimit, isRequired: false)
    }
}
