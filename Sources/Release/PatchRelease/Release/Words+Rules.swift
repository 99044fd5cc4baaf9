package import PatchFormat

extension Words {
    /// The devices for which an entry is listed.
    package static func rules(_ rules: PatchRules) -> String {
        var words: [String] = []
        if rules.rollout != 10_000 { words.append("\(RolloutShare(rules.rollout)) of devices") }
        if let range = rules.appVersion { words.append("app \(range.text)") }
        if let condition = rules.condition { words.append("if \(condition)") }
        if let users = rules.users { words.append("\(count(users.count, "user"))") }
        if rules.dial == .required { words.append("dial required") }
        if rules.mandatory { words.append("mandatory") }
        if rules.runAtNextLaunch { words.append("runs at the next launch") }
        return words.isEmpty ? "everyone" : words.joined(separator: ", ")
    }
}
