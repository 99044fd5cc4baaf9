import HTTPFiles
import NIOHTTP1
import PatchFormat

/// A request, as a route sees it.
struct ControlCall: Sendable {
    /// Bytes; more is answered 413.
    static let bodyLimit = 64 * 1024

    let request: FileRequest
    /// Of the path, by the names in braces.
    let parameters: [String: String]

    /// A member of the query, decoded; an empty text where it stands alone.
    func query(_ name: String) -> String? {
        for pair in (request.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if Self.decoded(parts[0]) == name { return parts.count == 2 ? Self.decoded(parts[1]) : "" }
        }
        return nil
    }

    /// The names of all members of the query; nil for one with a broken escape.
    var queryNames: [String?] {
        (request.query ?? "").split(separator: "&").map { Self.decoded($0.prefix { $0 != "=" }) }
    }

    func name<Name: ParsedName>(_ name: String, as type: Name.Type = Name.self) throws(ControlProblem) -> Name? {
        guard let text = query(name) else { return nil }
        guard let value = Name(text) else { throw .invalid(FormatError("the query", field: name, rule: Name.rule)) }
        return value
    }

    func time(_ name: String) throws(ControlProblem) -> UTCTime? {
        guard let text = query(name) else { return nil }
        guard let time = UTCTime(text) else {
            throw .invalid(FormatError("the query", field: name, rule: "must be a time: YYYY-MM-DDTHH:MM:SSZ"))
        }
        return time
    }

    /// The body as an object; one without members where there is none.
    func fields() throws(ControlProblem) -> Fields {
        let document = "the body"
        do throws(FormatError) {
            let bytes = request.body.isEmpty ? Array("{}".utf8) : request.body
            return try Fields(try JSON.document(bytes, named: document, limit: Self.bodyLimit), of: document)
        } catch { throw .invalid(error) }
    }

    /// RFC 7240.
    var wantsNoWait: Bool {
        request.headers[canonicalForm: "Prefer"].contains { $0.lowercased() == "respond-async" }
    }

    /// Nil where the escapes are none.
    private static func decoded(_ text: Substring) -> String? {
        var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
