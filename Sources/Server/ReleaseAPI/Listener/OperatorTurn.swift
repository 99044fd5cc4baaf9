import HTTPFiles

/// Whose turn it is on one connection of the operators' listener: a value, which ``OperatorConnection`` obeys.
///
/// ```
/// idle ──bytes──▶ head ──its end──▶ exchange ──answered, and all of the request here──▶ idle
///   │               │                  │
///   └─time: close   └─fault──▶ lingering ◀──the last answer
/// ```
struct OperatorTurn: Equatable, Sendable {
    /// The most of an unread body that is read and dropped to keep the connection; beyond it the connection ends.
    static let maxDrainedBytes = 64 * 1024

    struct Exchange: Equatable, Sendable {
        enum Body: Equatable, Sendable {
            /// - left: bytes; nil while a chunked body's length is unknown.
            case coming(left: Int?, awaitsContinue: Bool)
            case whole
        }

        enum Answer: Equatable, Sendable {
            case owed
            case begun(keeps: Bool)
            /// All of it is handed on, and the client is still to take it.
            case whole
            case given
        }

        var body: Body
        var answer = Answer.owed
        /// Whether the connection may stay open, by the client's wish and by the rules.
        var keeps: Bool
        /// Why the rest of the body will not come.
        var fault: RequestFault?

        /// Whether the unread rest of the body is small enough to be read.
        var isDrainable: Bool {
            switch body {
            case .whole: true
            case .coming(let left, let awaitsContinue): !awaitsContinue && left.map { $0 <= maxDrainedBytes } ?? false
            }
        }
    }

    enum Phase: Equatable, Sendable {
        /// Between two requests.
        case idle
        /// These many bytes came, and the head is incomplete.
        case head(bytes: Int)
        case exchange(Exchange)
        /// The last answer is sent; further bytes are dropped until the client ends.
        case lingering
    }

    private(set) var phase = Phase.idle

    /// Whether only the client can go on.
    var awaitsClient: Bool {
        if case .exchange(let exchange) = phase { exchange.body != .whole } else { true }
    }

    /// Whether further bytes belong to the next request, which waits for the answer to this one.
    var holdsBack: Bool {
        if case .exchange(let exchange) = phase { exchange.body == .whole } else { false }
    }

    // MARK: - What the client sends

    mutating func came(bytes: Int) {
        switch phase {
        case .idle: phase = .head(bytes: bytes)
        case .head(let before): phase = .head(bytes: before + bytes)
        case .exchange, .lingering: break
        }
    }

    mutating func came(_ head: CheckedHead) {
        let body = Exchange.Body.coming(left: head.bodyLength, awaitsContinue: head.expectsContinue)
        phase = .exchange(Exchange(body: body, keeps: head.keepsConnection))
    }

    mutating func came(ofBody bytes: Int) {
        change { exchange in
            guard case .coming(let left, _) = exchange.body else { return }
            exchange.body = .coming(left: left.map { $0 - bytes }, awaitsContinue: false)
        }
    }

    /// - Returns: whether the next request may come: this one was answered before it was whole.
    mutating func cameToItsEnd() -> Bool {
        guard case .exchange(var exchange) = phase else { return false }
        exchange.body = .whole
        phase = exchange.answer == .given ? .idle : .exchange(exchange)
        return phase == .idle
    }

    /// The handler asks for the body.
    ///
    /// - Returns: whether the client waits for `100 Continue`.
    mutating func asksForBody() -> Bool {
        guard case .exchange(var exchange) = phase, exchange.answer == .owed,
            case .coming(let left, awaitsContinue: true) = exchange.body
        else { return false }
        exchange.body = .coming(left: left, awaitsContinue: false)
        phase = .exchange(exchange)
        return true
    }

    enum Failing: Equatable, Sendable {
        /// No client is left to answer.
        case close
        /// Send the refusal here; it is the last answer.
        case refuse
        /// Report the fault to the reader of the body.
        case tellReader
        /// Send the answer to the previous request first; it is the last.
        case wait
    }

    /// The client breaks a rule or takes too long.
    mutating func fails(_ fault: RequestFault) -> Failing {
        switch phase {
        case .idle where fault == .tooSlow, .lingering: return .close
        case .idle, .head: return .refuse
        case .exchange(var exchange):
            defer { phase = .exchange(exchange) }
            exchange.keeps = false
            switch (exchange.body, exchange.answer) {
            case (.whole, _): return .wait
            case (.coming, .given): return .close
            case (.coming, .begun), (.coming, .whole): return .wait
            case (.coming, .owed):
                exchange.fault = fault
                return .tellReader
            }
        }
    }

    // MARK: - What it gets

    enum Beginning: Equatable, Sendable {
        /// The handler's answer, and whether the connection is kept.
        case answer(keeps: Bool)
        /// The fault, instead of an answer made from half a body.
        case fault(RequestFault)
    }

    mutating func begins(stopping: Bool) -> Beginning {
        guard case .exchange(var exchange) = phase else { return .answer(keeps: false) }
        defer { phase = .exchange(exchange) }
        exchange.keeps = exchange.keeps && exchange.fault == nil && exchange.isDrainable && !stopping
        exchange.answer = .begun(keeps: exchange.keeps)
        return exchange.fault.map { .fault($0) } ?? .answer(keeps: exchange.keeps)
    }

    /// The answer's last part is handed on.
    mutating func completes() { change { $0.answer = .whole } }

    /// Nobody behind has more to say.
    ///
    /// - Returns: whether the connection ends by itself, once the client has taken the last answer.
    mutating func closes() -> Bool {
        switch phase {
        case .lingering: return true
        case .idle, .head: return false
        case .exchange(var exchange):
            guard exchange.answer == .whole else { return false }
            exchange.keeps = false
            phase = .exchange(exchange)
            return true
        }
    }

    enum Next: Equatable, Sendable {
        case request
        /// Read the rest of the body first.
        case rest
        case linger
    }

    /// - Parameter goesOn: whether another request can follow on this connection.
    mutating func ends(goesOn: Bool) -> Next {
        guard goesOn, case .exchange(var exchange) = phase, exchange.keeps else {
            phase = .lingering
            return .linger
        }
        exchange.answer = .given
        guard exchange.body == .whole else {
            phase = .exchange(exchange)
            return .rest
        }
        phase = .idle
        return .request
    }

    /// Answers nothing more.
    mutating func linger() { phase = .lingering }

    private mutating func change(_ change: (inout Exchange) -> Void) {
        guard case .exchange(var exchange) = phase else { return }
        change(&exchange)
        phase = .exchange(exchange)
    }
}
