import HTTPFiles

/// Whose turn it is on one connection of the operators' listener: a value, which ``OperatorConnection`` obeys.
///
/// ```
/// idle ──bytes──▶ head ──its end──▶ exchange ──answered, and all of the request here──▶ idle
///   │               │                  │
///   └─time: close   └─fault──▶ lingering ◀──the last answer
/// ```
struct ConnectionTurn: Equatable, Sendable {
    /// What of an unread body is read and thrown away to keep the connection; with more to come it ends.
    static let maxDrainedBytes = 64 * 1024

    struct Exchange: Equatable, Sendable {
        enum Body: Equatable, Sendable {
            /// - left: bytes; nil while a chunked body has not said.
            case coming(left: Int?, awaitsContinue: Bool)
            case whole
        }

        enum Answer: Equatable, Sendable {
            case owed
            case begun(keeps: Bool)
            case given
        }

        var body: Body
        var answer = Answer.owed
        /// What the client wants of the connection afterwards, and whether it can be had.
        var keeps: Bool
        /// Why the rest of the body will not come.
        var fault: RequestFault?

        /// Whether what nobody read of the body is soon read.
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
        /// So many bytes came, and the head is not whole.
        case head(bytes: Int)
        case exchange(Exchange)
        /// The last answer is out; what still comes is thrown away until the client ends.
        case lingering
    }

    private(set) var phase = Phase.idle

    /// Whether nothing can go on without the client.
    var awaitsClient: Bool {
        if case .exchange(let exchange) = phase { exchange.body != .whole } else { true }
    }

    /// Whether what comes now is of the next request, and waits for the answer to this one.
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

    /// Somebody wants the body.
    ///
    /// - Returns: whether the client waits to be told so.
    mutating func asksForBody() -> Bool {
        guard case .exchange(var exchange) = phase, exchange.answer == .owed,
            case .coming(let left, awaitsContinue: true) = exchange.body
        else { return false }
        exchange.body = .coming(left: left, awaitsContinue: false)
        phase = .exchange(exchange)
        return true
    }

    enum Failing: Equatable, Sendable {
        /// There is nobody to tell.
        case close
        /// Answer it here; it is the last answer.
        case refuse
        /// Whoever reads the body must know.
        case tellReader
        /// The answer to the request before comes first, and is the last.
        case wait
    }

    /// The client breaks a rule, or takes too long.
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
            case (.coming, .begun): return .wait
            case (.coming, .owed):
                exchange.fault = fault
                return .tellReader
            }
        }
    }

    // MARK: - What it gets

    enum Beginning: Equatable, Sendable {
        /// What was made for it, and whether the connection is kept.
        case answer(keeps: Bool)
        /// Not what was made of half a body.
        case fault(RequestFault)
    }

    mutating func begins(stopping: Bool) -> Beginning {
        guard case .exchange(var exchange) = phase else { return .answer(keeps: false) }
        defer { phase = .exchange(exchange) }
        exchange.keeps = exchange.keeps && exchange.fault == nil && exchange.isDrainable && !stopping
        exchange.answer = .begun(keeps: exchange.keeps)
        return exchange.fault.map { .fault($0) } ?? .answer(keeps: exchange.keeps)
    }

    enum Next: Equatable, Sendable {
        case request
        /// What is left of the body first.
        case rest
        case linger
    }

    /// - Parameter goesOn: whether anything else can follow on this connection.
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

    /// Nothing more is answered.
    mutating func linger() { phase = .lingering }

    private mutating func change(_ change: (inout Exchange) -> Void) {
        guard case .exchange(var exchange) = phase else { return }
        change(&exchange)
        phase = .exchange(exchange)
    }
}
