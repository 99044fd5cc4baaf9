/// What somebody proposes to do with a channel: an instruction, which a key holder's own program turns into bytes.
///
/// ```
/// { "action": "promote", "from": "beta" }
/// { "action": "rollback", "to": 7 }
/// { "action": "withdraw", "patchId": "web", "version": "2.0.0" }
/// { "action": "rules", "patchId": "web", "version": "2.0.0", "rollout": 5000, "condition": null }
/// ```
package enum ProposedChange: Hashable, Sendable {
    /// What another channel lists now.
    case promote(from: ChannelName)
    /// What the channel listed in an older release.
    case rollBack(to: Int)
    /// A patch, or one version of it, is listed no more.
    case withdraw(PatchID, version: VersionLabel?)
    case rules(PatchID, version: VersionLabel, RuleEdit)

    package init(_ fields: Fields) throws(FormatError) {
        switch try fields.string("action") {
        case "promote": self = .promote(from: try fields.name("from"))
        case "rollback": self = .rollBack(to: try fields.integer("to", in: 1...(1 << 53 - 2)))
        case "withdraw":
            let version: VersionLabel? = fields.has("version") ? try fields.name("version") : nil
            self = .withdraw(try fields.name("patchId"), version: version)
        case "rules":
            let (id, version): (PatchID, VersionLabel) = (try fields.name("patchId"), try fields.name("version"))
            self = .rules(id, version: version, try RuleEdit(fields))
        default: throw fields.broken("action", "must be promote, rollback, withdraw or rules")
        }
    }

    package var members: [(String, JSON?)] {
        switch self {
        case .promote(let from): [("action", .text("promote")), ("from", .text(from.text))]
        case .rollBack(let version): [("action", .text("rollback")), ("to", .integer(version))]
        case .withdraw(let id, let version):
            [
                ("action", .text("withdraw")), ("patchId", .text(id.text)),
                ("version", version.map { .text($0.text) }),
            ]
        case .rules(let id, let version, let edit):
            [("action", .text("rules")), ("patchId", .text(id.text)), ("version", .text(version.text))]
                + edit.members.map { ($0.key.text, $0.value) }
        }
    }

    /// One line.
    package func words(channel: ChannelName) -> String {
        switch self {
        case .promote(let from): "\(channel) lists what \(from) lists"
        case .rollBack(let version): "\(channel) lists again what its release \(version) listed"
        case .withdraw(let id, let version): "\(channel) no longer lists \(id)\(version.map { " \($0)" } ?? "")"
        case .rules(let id, let version, let edit):
            "\(channel): rules of \(id) \(version): \(edit.words)"
        }
    }
}
