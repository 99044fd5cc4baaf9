import PatchFormat

/// A command line that the parser rejected, with a better message for some mistakes.
///
/// Scripts receive the message too.
struct UsageMistake {
    /// The words before `--`.
    private let words: [String]

    init(_ arguments: [String]) {
        words = Array(arguments.prefix { $0 != "--" })
    }

    /// The failure for a value that begins like an option, which the parser reports as a missing value: `--retries -1`.
    func failure(_ message: String) -> Failure? {
        guard let option = message.firstMatch(of: #/^Missing value for '(-[A-Za-z0-9-]+)/#).map({ String($0.1) }),
            let value = zip(words, words.dropFirst()).first(where: { $0 == option && $1.hasPrefix("-") })?.1
        else { return nil }
        guard value.dropFirst().first?.isNumber != true else {
            return Failure("\(option) must not be negative, but is \(value)", code: .usage)
        }
        return Failure(
            "\(option) has no value: \(value) after it looks like an option",
            hint: "if it is the value, write \(option)=\(value)",
            code: .usage
        )
    }

    /// Writes the failure to standard output if there is `--json`, like every other error.
    func printJSON(_ failure: Failure) {
        if words.contains("--json") { Console.standardOutput.line(failure.json) }
    }
}
