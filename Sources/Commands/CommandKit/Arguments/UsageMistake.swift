import PatchFormat

/// A command line that the parser did not understand, told in better words where there are any, and to scripts.
struct UsageMistake {
    /// What stands before `--`.
    private let words: [String]

    init(_ arguments: [String]) {
        words = Array(arguments.prefix { $0 != "--" })
    }

    /// What the parser calls a missing value where there is one that begins as an option does: `--retries -1`.
    func failure(_ message: String) -> Failure? {
        guard let option = message.firstMatch(of: #/^Missing value for '(-[A-Za-z0-9-]+)/#).map({ String($0.1) }),
            let value = zip(words, words.dropFirst()).first(where: { $0 == option && $1.hasPrefix("-") })?.1
        else { return nil }
        guard value.dropFirst().first?.isNumber != true else {
            return Failure("\(option) takes no negative value, as \(value) is", code: .usage)
        }
        return Failure(
            "\(option) has no value: \(value) behind it begins as an option does",
            hint: "if it is the value, write \(option)=\(value)",
            code: .usage
        )
    }

    /// With `--json`, as every other error.
    func tellScripts(_ failure: Failure) {
        if words.contains("--json") { Console.standardOutput.line(failure.json) }
    }
}
