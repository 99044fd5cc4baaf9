import Glibc
import Terminal

/// A yes-or-no question to the person at the terminal.
enum Question {
    enum Answer {
        case yes, no
        /// Standard input is no terminal.
        case nobody
    }

    static func ask(_ question: String) -> Answer {
        guard isatty(STDIN_FILENO) == 1 else { return .nobody }
        Console.standardError.write(question + " ")
        switch readLine()?.lowercased() {
        case "y", "yes": return .yes
        case nil, _?: return .no
        }
    }

    /// Refuses, before anything is begun, what nobody could say yes to.
    static func checkSomebody(yes: Bool) throws(Failure) {
        guard yes || isatty(STDIN_FILENO) == 1 else { throw nobodyThere }
    }

    private static var nobodyThere: Failure {
        Failure("there is no terminal to ask whether to sign", hint: "--yes signs without asking", exitCode: .usage)
    }

    /// Goes on only with a yes.
    static func confirm(_ question: String, yes: Bool) throws(Failure) {
        guard !yes else { return }
        switch ask("\(question) [y/N]") {
        case .yes: return
        case .no: throw Failure("not signed")
        case .nobody: throw nobodyThere
        }
    }
}
