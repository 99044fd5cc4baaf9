/// Which piece of an answer may be next on a connection that carries one request after the other.
///
/// ```
/// idle ──request──▶ asked ──1xx, at most so many──▶ asked
///                     └──head──▶ answering ──body──▶ answering ──end──▶ idle
/// ```
struct AnswerOrder: Equatable {
    enum State: Equatable {
        case idle
        case asked(interim: Int)
        case answering
    }

    enum Piece {
        case head(status: Int)
        case body
        case end
    }

    /// Servers send one or two.
    ///
    /// Without a limit, a server could hold a request forever, because each interim answer counts as progress.
    static let interimLimit = 32

    private(set) var state = State.idle

    /// Notes that the head of a request is sent.
    mutating func requestSent() {
        state = .asked(interim: 0)
    }

    mutating func takes(_ piece: Piece) throws(AnswerFault) {
        switch (piece, state) {
        case (.head(let status), _) where status < 100: throw .status(status)
        // A 101 is the last head of its answer.
        case (.head(let status), .asked(let interim)) where status < 200 && status != 101:
            guard interim < Self.interimLimit else { throw .interimAnswers(limit: Self.interimLimit) }
            state = .asked(interim: interim + 1)
        case (.head, .asked): state = .answering
        case (.body, .answering): break
        case (.end, .answering): state = .idle
        case (.head, .idle), (.head, .answering), (.body, .idle), (.body, .asked), (.end, .idle), (.end, .asked):
            throw .outOfOrder
        }
    }
}
