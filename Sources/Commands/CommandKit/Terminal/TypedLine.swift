import Glibc

/// A line that a person types at standard input, after a question on standard error.
package enum TypedLine: Equatable, Sendable {
    case text(String)
    /// Standard input ended: Ctrl-D, or the terminal was closed.
    case ended
    /// Standard input is not a terminal.
    case noTerminal

    private static let limit = 1_024

    /// Asks once, and again after a Ctrl-Z and `fg`.
    ///
    /// Ctrl-C ends the process.
    package static func ask(_ question: String) -> TypedLine {
        guard YesNoPrompt.isInteractive else { return .noTerminal }
        while true {
            let input = try? withSignalsAsInput(STDIN_FILENO) { input throws(SystemError) in
                Console.standardError.write(question + " ")
                return try input.line(limit: limit)
            }
            switch input {
            case .line(let bytes): return .text(String(decoding: bytes, as: UTF8.self))
            case .signal(SIGTSTP): deliver(SIGTSTP)
            case .signal(let number):
                Console.standardError.write("\n")
                deliver(number)
                return .ended
            case .end, nil:
                Console.standardError.write("\n")
                return .ended
            }
        }
    }
}
