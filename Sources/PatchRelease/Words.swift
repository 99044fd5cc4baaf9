package import PatchFormat

/// Counts and rules for people.
package enum Words {
    /// `1,234,567`.
    package static func grouped(_ number: Int) -> String {
        var digits = Array(String(abs(number)))
        for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
        return (number < 0 ? "-" : "") + String(digits)
    }

    /// `1 file`, `3 files`.
    package static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(grouped(number)) \(number == 1 ? noun : plural ?? noun + "s")"
    }

    package static func bytes(_ count: Int) -> String {
        Self.count(count, "byte")
    }

    package static func rules(_ rules: PatchRules) -> String {
        var words: [String] = []
        if rules.rollout != 10_000 { words.append("\(Share(rules.rollout)) of devices") }
        if let range = rules.appVersion { words.append("app \(range.text)") }
        if let condition = rules.condition { words.append("if \(condition)") }
        if let users = rules.users { words.append("\(count(users.count, "user"))") }
        if rules.dial == .required { words.append("dial required") }
        if rules.mandatory { words.append("mandatory") }
        if rules.runAtNextLaunch { words.append("runs at the next launch") }
        return words.isEmpty ? "everyone" : words.joined(separator: ", ")
    }
}
