import Glibc

/// A yes-or-no question to the person at standard input.
package enum YesNoPrompt: Sendable {
    case yes, no
    /// Standard input is not a terminal.
    case noTerminal

    private static let limit = 1_024

    package static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 }

    /// Asks on standard error, and again after a Ctrl-Z and `fg`.
    ///
    /// Signals that would end the process, such as Ctrl-C, count as a no, because the caller has to clean up first.
    package static func ask(_ question: String) -> YesNoPrompt {
        guard isInteractive else { return .noTerminal }
        while true {
            let input = try? withSignalsAsInput(STDIN_FILENO) { input throws(SystemError) in
                Console.standardError.write(question + " ")
                return try input.line(limit: limit)
            }
            switch input {
            case .line(let bytes):
                let answer = String(decoding: bytes, as: UTF8.self).lowercased().filter { !$0.isWhitespace }
                return ["y", "yes"].contains(answer) ? .yes : .no
            case .signal(SIGTSTP): deliver(SIGTSTP)
            case .signal, .end, nil:
                Console.standardError.write("\n")
                return .no
            }
        }
    }
}
