/// A proposed change of a channel.
///
/// A key holder's own program turns this instruction into signed bytes.
///
/// ```
/// { "action": "promote", "from": "beta" }
/// { "action": "promote", "from": "beta", "rollouts": { "web": 1000 } }
/// { "action": "rollback", "to": 7 }
/// { "action": "withdraw", "patchId": "web", "version": "2.0.0" }
/// { "action": "rules", "patchId": "web", "version": "2.0.0", "rollout": 5000, "condition": null }
/// ```
package enum ProposedChange: Hashable, Sendable {
    /// Lists the entries that another channel lists now.
    ///
    /// - rollouts: ceilings, in devices of 10,000, of the newest version of each of these patches. They replace those of the other
    ///   channel's rules.
    case promote(from: ChannelName, rollouts: [PatchID: Int] = [:])
    /// Lists the entries of an older release of the channel.
    case rollBack(to: Int)
    /// Removes a patch, or one version of it, from the list.
    case withdraw(PatchID, version: VersionLabel?)
    case rules(PatchID, version: VersionLabel, RuleEdit)

    package init(_ fields: Fields) throws(FormatError) {
        switch try fields.string("action") {
        case "promote": self = .promote(from: try fields.name("from"), rollouts: try Self.rollouts(fields))
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

    private static func rollouts(_ fields: Fields) throws(FormatError) -> [PatchID: Int] {
        guard fields.has("rollouts") else { return [:] }
        let table = try fields.members(of: "rollouts", limit: 1_000)
        var rollouts: [PatchID: Int] = [:]
        for member in table.object.members {
            guard let id = PatchID(member.key.text) else { throw table.broken(member.key.text, PatchID.rule) }
            rollouts[id] = try table.integer(member.key.text, in: 0...10_000)
        }
        return rollouts
    }

    package var members: [(String, JSON?)] {
        switch self {
        case .promote(let from, let rollouts):
            [
                ("action", .text("promote")), ("from", .text(from.text)),
                (
                    "rollouts",
                    rollouts.isEmpty
                        ? nil : .fields(rollouts.sorted { $0.key < $1.key }.map { ($0.key.text, .integer($0.value)) })
                ),
            ]
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

    /// A description on one line.
    package func words(channel: ChannelName) -> String {
        switch self {
        case .promote(let from, let rollouts):
            "\(channel) lists the versions of \(from)"
                + rollouts.sorted { $0.key < $1.key }.map { ", \($0.key) for \(RolloutShare($0.value)) of devices" }
                .joined()
        case .rollBack(let version): "\(channel) lists the versions of its release \(version) again"
        case .withdraw(let id, let version): "\(channel) no longer lists \(id)\(version.map { " \($0)" } ?? "")"
        case .rules(let id, let version, let edit):
            "\(channel): rules of \(id) \(version): \(edit.words)"
        }
    }
}
