/// A change of one version's rules.
///
/// Each member has the list's form, and `null` removes a rule.
///
/// ```
/// { "rollout": 5000, "condition": null }
/// ```
package struct RuleEdit: Hashable, Sendable {
    private static let names = ["rollout", "appVersion", "dial", "condition", "mandatory", "runAtNextLaunch", "users"]

    /// The changed members in a fixed order, independent of the input.
    package let members: [JSONObject.Member]

    /// - Parameter fields: members that are not rules are ignored.
    /// - Throws: if a rule is not valid for a device, or if the document contains no rule.
    package init(_ fields: Fields) throws(FormatError) {
        let found = fields.object.members
        members = Self.names.compactMap { name in found.first { $0.key.text == name } }
        guard !members.isEmpty else {
            throw fields.broken("rules", "must hold one of " + Self.names.joined(separator: ", "))
        }
        let rules = try applied(to: .everyone)
        if let condition = rules.condition {
            do throws(Condition.Problem) { _ = try Condition(condition) } catch {
                throw fields.broken("condition", "\(error)")
            }
        }
    }

    /// A description on one line: `rollout 25%, no condition`.
    package var words: String {
        members.map(Self.words).joined(separator: ", ")
    }

    private static func words(_ member: JSONObject.Member) -> String {
        let name = member.key.text
        if member.value == .null { return "no \(name)" }
        if name == "rollout", case .integer(let share) = member.value { return "\(name) \(RolloutShare(share))" }
        if case .array(let users) = member.value { return "\(users.count) \(name)" }
        return "\(name) \(String(decoding: member.value.fileBytes, as: UTF8.self))"
    }

    package func applied(to rules: PatchRules) throws(FormatError) -> PatchRules {
        var object = rules.json.object ?? JSONObject()
        for member in members { object[member.key.text] = member.value == .null ? nil : member.value }
        return try PatchRules(Fields(.object(object), of: "rules"))
    }
}
