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
