import NIOHTTP1

/// Why a server's answer is withheld from the HTTP client: HTTP does not allow such an answer (RFC 9110 §15).
package enum AnswerFault: Error, Equatable, Sendable {
    /// A status below 100.
    case status(Int)
    /// The server sends interim answers (1xx) without a final answer.
    case interimAnswers(limit: Int)
    /// A piece of an answer where none is allowed.
    case outOfOrder
}

extension AnswerFault: CustomStringConvertible {
    /// The text continues "the server's answer".
    package var description: String {
        switch self {
        case .status(let code): "has the invalid status \(Self.threeDigits(code))"
        case .interimAnswers(let limit): "follows more than \(limit) interim answers"
        case .outOfOrder: "is out of order"
        }
    }

    private static func threeDigits(_ code: Int) -> String {
        String(repeating: "0", count: max(0, 3 - "\(code)".count)) + "\(code)"
    }
}

/// An answer has a transfer coding other than `chunked`, which our clients cannot read.
///
/// Such a body ends with its connection (RFC 9112 §6.3). async-http-client 1.37.0 then treats it as complete even without the
/// closing message of TLS, so an attacker who cuts the connection could truncate the body.
struct TransferCodingError: Error, CustomStringConvertible {
    var description: String { "the server's answer uses a transfer coding other than chunked" }

    static func isReadable(_ headers: HTTPHeaders) -> Bool {
        let codings = headers["Transfer-Encoding"]
        return codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked"
    }
}
