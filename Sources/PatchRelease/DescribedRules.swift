import PatchFormat

/// The rules of a described patch, read more strictly than a device reads them: what no device could judge is refused here.
struct DescribedRules {
    var rules = PatchRules.everyone
    /// Users who are named by their ids and not by hashes.
    var users: [UserID] = []

    init() {}

    /// - Parameter fields: `users` may hold ids beside hashes; 64 lowercase hex digits are a hash.
    init(_ fields: Fields) throws(FormatError) {
        var object = fields.object
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
}
