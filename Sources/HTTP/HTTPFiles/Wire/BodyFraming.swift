import HTTPCore
import NIOHTTP1

/// How the body of a request is delimited, decided from its head (RFC 9112 §6).
enum BodyFraming: Equatable, Sendable {
    case none
    /// The number of bytes, at least one.
    case length(Int)
    case chunked

    /// Rejects every form that two servers could read differently: both fields, several lengths, a coding after
    /// `chunked`, or chunks in HTTP/1.0.
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
        // A number too large for `Int` is over every limit.
        let length = Int(values[0]) ?? .max
        return length == 0 ? .none : .length(length)
    }
}
