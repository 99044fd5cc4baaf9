import CommandKit
import PatchFormat
import PatchRelease

/// Asks at the terminal for the holders of the root and targets keys.
struct KeyHoldersQuestion {
    static let count = "How many people hold root and targets keys? [1]"
    static let names = "Their names, with blanks between (a-z 0-9):"
    /// A larger number is a typing error, or a plan too large for a prompt.
    static let maximum = 9
    private static let tries = 3

    /// Reads the next line.
    ///
    /// Tests provide the answers.
    var ask: (String) -> TypedLine = TypedLine.ask
    var display: (String) -> Void = { Console.standardError.line(printable($0)) }

    /// Asks for the key holders; without a terminal, one person with a recovery key.
    func answer() throws(Failure) -> KeyHolders {
        for _ in 0..<Self.tries {
            switch ask(Self.count) {
            case .noTerminal: return .one(recovery: true)
            case .ended: throw Self.noAnswer
            case .text(let text):
                switch Self.count(in: text) {
                case 1?: return .one(recovery: true)
                case let count?: return try names(of: count)
                case nil: display("type a number from 1 to \(Self.maximum)")
                }
            }
        }
        throw Self.noAnswer
    }

    private func names(of count: Int) throws(Failure) -> KeyHolders {
        for _ in 0..<Self.tries {
            guard case .text(let text) = ask(Self.names) else { throw Self.noAnswer }
            let names = text.split { $0.isWhitespace || $0 == "," }.map(String.init)
            if let holders = KeyHolders(names), names.count == count { return holders }
            display(
                "type \(count) different names of 1 to 32 of a-z 0-9; `\(RootOfTrustPlan.recovery)` is the spare key's"
            )
        }
        throw Self.noAnswer
    }

    /// An empty answer means one person.
    private static func count(in text: String) -> Int? {
        let text = text.filter { !$0.isWhitespace }
        guard !text.isEmpty else { return 1 }
        return Int(text).flatMap { (1...maximum).contains($0) ? $0 : nil }
    }

    private static var noAnswer: Failure {
        Failure(
            "the key holders are not known",
            hint: "give --recovery-key, or --holder root=NAME and --holder targets=NAME for each holder",
            code: .usage
        )
    }
}
