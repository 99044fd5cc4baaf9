import PatchFormat

/// The rules of a described patch, read more strictly than a device reads them: what no device could judge is refused here.
struct DescribedRules {
    var rules = PatchRules.everyone
    /// Users who are named by their ids and not by hashes.
    var users: [UserID] = []

    init() {}

    /// - Parameter fields: `users` may hold ids beside hashes; 64 lowercase hex digits are a hash. `rollout` may be a
    ///   percentage: `10%`, `0.25%`.
    init(_ fields: Fields) throws(FormatError) {
        var object = fields.object
        if case .string(let text)? = object["rollout"] {
            guard let rollout = Self.rollout(percentage: text.text) else {
                throw fields.broken(
                    "rollout",
                    "must be an integer from 0 to 10000, or a percentage of at most two decimals: 10% is 1000"
                )
            }
            object["rollout"] = .integer(rollout)
        }
        if fields.has("users") {
            var hashes: [JSON] = []
            for (index, text) in try fields.texts("users", limit: Limits.usersOfEntry).enumerated() {
                if SHA256Digest(hex: text) != nil {
                    hashes.append(.text(text))
                } else if let user = UserID(text) {
                    users.append(user)
                } else {
                    throw fields.broken("users[\(index)]", UserID.rule)
                }
            }
            object["users"] = .array(hashes)
        }
        rules = try PatchRules(try Fields(.object(object), of: fields.document, at: fields.path))
        if let unknown = rules.unknown.first { throw fields.broken(unknown, "is not a rule") }
        guard let condition = rules.condition else { return }
        do throws(Condition.Problem) { _ = try Condition(condition) } catch {
            throw fields.broken("condition", error.description)
        }
    }

    /// Ten-thousandths; nil for anything but `0%` to `100%` with at most two decimals.
    static func rollout(percentage text: String) -> Int? {
        guard text.hasSuffix("%") else { return nil }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(digits.contains) }),
            parts[0].utf8.count <= 3, let whole = Int(parts[0])
        else { return nil }
        let decimals = parts.count == 2 ? String(parts[1]) : ""
        guard decimals.utf8.count <= 2, let hundredths = Int((decimals + "00").prefix(2)) else { return nil }
        let rollout = whole * 100 + hundredths
        return rollout <= 10_000 ? rollout : nil
    }
}
