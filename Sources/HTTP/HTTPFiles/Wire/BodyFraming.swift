import NIOHTTP1

/// How the body of a request is delimited, decided from its head (RFC 9112 §6).
enum BodyFraming: Equatable, Sendable {
    case none
    /// Bytes, more than none.
    case length(Int)
    case chunked

    /// Refuses every shape that two servers could read differently: both fields, several lengths, a coding after
    /// `chunked`, a chunked HTTP/1.0.
    init(_ head: RequestHead) throws(RequestFault) {
        let lengths = head.headers["Content-Length"]
        let codings = head.headers["Transfer-Encoding"]
        guard lengths.isEmpty || codings.isEmpty else {
            throw .malformed("both Content-Length and Transfer-Encoding")
        }
        if !codings.isEmpty {
            self = try Self.chunked(codings.flatMap(\.listElements), minorVersion: head.minorVersion)
        } else if !lengths.isEmpty {
            self = try Self.length(lengths)
        } else {
            self = .none
        }
    }

    private static func chunked(_ codings: [String], minorVersion: Int) throws(RequestFault) -> BodyFraming {
        guard minorVersion >= 1 else { throw .malformed("Transfer-Encoding in HTTP/1.0") }
        let names = codings.map { $0.lowercased() }
        guard names.last == "chunked", !names.dropLast().contains("chunked") else {
            throw .malformed("chunked is not the final transfer coding, once")
        }
        guard names.count == 1 else { throw .unsupportedTransferCoding }
        return .chunked
    }

    private static func length(_ values: [String]) throws(RequestFault) -> BodyFraming {
        guard values.count == 1, !values[0].isEmpty, values[0].utf8.allSatisfy(\.isDigit) else {
            throw .malformed("Content-Length is not one number")
        }
        // More than Int holds is beyond every limit.
        let length = Int(values[0]) ?? .max
        return length == 0 ? .none : .length(length)
    }
}
