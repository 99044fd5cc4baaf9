import PatchFormat

/// The rules of a described patch.
///
/// They are checked more strictly than on a device: rules that no device could evaluate are rejected.
struct DescribedRules {
    static let rollout = "must be an integer from 0 to 10000, or a percentage of at most two decimals: 10% is 1000"
    static let names: Set<String> = [
        "rollout", "appVersion", "dial", "condition", "users", "mandatory", "runAtNextLaunch",
    ]

    var rules = PatchRules.everyone
    /// Users named by their ids instead of hashes.
    var users: [UserID] = []

    init() {}

    /// - Parameter fields: `users` may contain ids and hashes; 64 lowercase hex digits are a hash. `rollout` may be a percentage:
    ///   `10%`, `0.25%`.
    init(_ fields: Fields, _ mistakes: Mistakes) {
        var readable = JSONObject()
        for member in fields.object.members {
            let value = mistakes.take { () throws(FormatError) in try read(member, of: fields, mistakes) }
            if let value { readable[member.key.text] = value }
        }
        let rules = mistakes.take { () throws(FormatError) in
            try PatchRules(try Fields(.object(readable), of: fields.document, at: fields.path))
        }
        self.rules = rules ?? .everyone
    }

    /// Reads one rule.
    private mutating func read(
        _ member: JSONObject.Member,
        of fields: Fields,
        _ mistakes: Mistakes
    ) throws(FormatError) -> JSON {
        let name = member.key.text
        switch (name, member.value) {
        case ("rollout", .string(let text)):
            guard let share = RolloutShare(text.text) else { throw fields.broken(name, Self.rollout) }
            return .integer(share.tenThousandths)
        case ("rollout", .integer(let number)):
            guard (0...10_000).contains(number) else { throw fields.broken(name, Self.rollout) }
            if (1...100).contains(number) {
                mistakes.warning(
                    fields.broken(name, "\(number) is \(RolloutShare(number)) of devices; \(number)% is a percentage")
                )
            }
            return member.value
        case ("rollout", _): throw fields.broken(name, Self.rollout)
        case ("users", _): return .array(try hashes(fields, mistakes))
        case ("condition", .string(let text)):
            guard !text.text.contains("("), !text.text.contains(")") else {
                throw fields.broken(name, "must not contain parentheses; && binds tighter than ||")
            }
            do throws(Condition.Problem) { _ = try Condition(text.text) } catch {
                throw fields.broken(name, error.description)
            }
            return member.value
        default:
            guard Self.names.contains(name) else {
                let meant =
                    name.nearest(among: Self.names.sorted()).map { "did you mean \($0)? The rules" } ?? "the rules"
                throw fields.broken(name, "is not a rule; \(meant) are \(Self.names.sorted().joined(separator: ", "))")
            }
            // Each rule is parsed alone, so that each one has its own error.
            _ = try PatchRules(
                try Fields(.object(JSONObject([(name, member.value)])), of: fields.document, at: fields.path)
            )
            return member.value
        }
    }

    private mutating func hashes(_ fields: Fields, _ mistakes: Mistakes) throws(FormatError) -> [JSON] {
        var hashes: [JSON] = []
        for (index, text) in try fields.texts("users", limit: Limits.usersOfEntry).enumerated() {
            if SHA256Digest(hex: text) != nil {
                hashes.append(.text(text))
            } else if let user = UserID(text) {
                users.append(user)
            } else {
                mistakes.add(fields.broken("users[\(index)]", UserID.rule))
            }
        }
        return hashes
    }
}
