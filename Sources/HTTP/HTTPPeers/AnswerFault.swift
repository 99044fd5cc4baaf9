import NIOHTTP1

/// Why a server's answer is not given to the HTTP client: no server may answer so (RFC 9110 §15).
package enum AnswerFault: Error, Equatable, Sendable {
    /// A status below 100.
    case status(Int)
    /// One interim answer (1xx) after another, and never the answer itself.
    case interimAnswers(limit: Int)
    /// A piece of an answer where none may come.
    case outOfOrder
}

extension AnswerFault: CustomStringConvertible {
    /// Goes on after "the server's answer".
    package var description: String {
        switch self {
        case .status(let code): "has status \(Self.threeDigits(code)), which no HTTP status can be"
        case .interimAnswers(let limit): "comes after more than \(limit) interim ones"
        case .outOfOrder: "comes in no order that HTTP knows"
        }
    }

    private static func threeDigits(_ code: Int) -> String {
        String(repeating: "0", count: max(0, 3 - "\(code)".count)) + "\(code)"
    }
}

/// An answer comes in a transfer coding other than `chunked`, which no client of ours reads.
///
/// Such a body ends with its connection (RFC 9112 §6.3), and async-http-client 1.37.0 then takes it for whole though TLS did
/// not say that it ends: whoever cuts the connection would cut the body.
struct TransferCodingError: Error, CustomStringConvertible {
    var description: String { "the server's answer comes in a transfer coding other than chunked" }

    static func isReadable(_ headers: HTTPHeaders) -> Bool {
        let codings = headers["Transfer-Encoding"]
        return codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked"
    }
}
