package import PatchFormat
import PatchCrypto
import PatchTrust

/// The keys of a new root of trust, their holders, and the threshold of each role.
package struct RootOfTrustPlan: Equatable, Sendable {
    package static let online = "online"
    package static let entry = "entry"
    package static let defaultChannels = ["production", "beta"]
    /// The holder of root's second key, which replaces the first one if it is lost.
    package static let recovery = "recovery"
    package static let recoveryKey = "root-\(recovery)"

    /// The reason why a plan is not valid.
    package enum Problem: Error, Equatable, Sendable {
        case channel(String, rule: String)
        case unknownRole(String, known: [String])
        case holder(role: String, String, rule: String)
        case threshold(role: String, wanted: Int, holders: Int)
        case bits(Int)
    }

    package let app: AppID
    package let channels: [ChannelName]
    /// The names of the keys (`production` or `production-alice`) and the threshold, by role.
    private let roles: [String: (keys: [String], threshold: Int)]

    /// - Parameters:
    ///   - holders: (role, name) in the given order; a role without holders has a single key.
    ///   - thresholds: (role, count); the default is 1.
    ///   - recovery: Whether root also gets ``recoveryKey``.
    package init(
        app: AppID,
        channels names: [String],
        holders: [(role: String, name: String)] = [],
        thresholds: [(role: String, count: Int)] = [],
        recovery: Bool = false
    ) throws(Problem) {
        var channels: [ChannelName] = []
        for name in names.isEmpty ? Self.defaultChannels : names {
            guard let channel = ChannelName(name) else { throw .channel(name, rule: ChannelName.rule) }
            guard name != Self.online, name != Self.entry else { throw .channel(name, rule: "is the name of a key") }
            guard !channels.contains(channel) else { throw .channel(name, rule: "is given twice") }
            channels.append(channel)
        }
        let known = ["root", "targets"] + channels.map(\.text)
        var roles: [String: (keys: [String], threshold: Int)] = [:]
        for role in known { roles[role] = ([role], 1) }
        var held: Set<String> = []
        for (role, name) in holders {
            guard let keys = roles[role]?.keys else { throw .unknownRole(role, known: known) }
            guard ChannelName(name) != nil else { throw .holder(role: role, name, rule: "must be 1 to 32 of a-z 0-9") }
            let key = "\(role)-\(name)"
            guard !keys.contains(key) else { throw .holder(role: role, name, rule: "is given twice") }
            roles[role] = (held.insert(role).inserted ? [key] : keys + [key], 1)
        }
        if recovery, let keys = roles["root"]?.keys, !keys.contains(Self.recoveryKey) {
            roles["root"] = (keys + [Self.recoveryKey], 1)
        }
        for (role, count) in thresholds {
            guard let keys = roles[role]?.keys else { throw .unknownRole(role, known: known) }
            guard (1...keys.count).contains(count) else {
                throw .threshold(role: role, wanted: count, holders: keys.count)
            }
            roles[role] = (keys, count)
        }
        self.app = app
        self.channels = channels
        self.roles = roles
    }

    /// All keys to create, in the order root, targets, channels, online, entry.
    package var keyNames: [String] {
        (["root", "targets"] + channels.map(\.text)).flatMap { keys(of: $0) } + [Self.online, Self.entry]
    }

    package func keys(of role: String) -> [String] {
        roles[role]?.keys ?? []
    }

    package func threshold(of role: String) -> Int {
        roles[role]?.threshold ?? 1
    }

    package static func == (left: RootOfTrustPlan, right: RootOfTrustPlan) -> Bool {
        left.app == right.app && left.channels == right.channels
            && left.keyNames.allSatisfy { right.keyNames.contains($0) }
            && left.roles.allSatisfy {
                right.roles[$0.key]?.keys == $0.value.keys && right.roles[$0.key]?.threshold == $0.value.threshold
            }
    }
}

extension RootOfTrustPlan.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .channel(let name, let rule): "channel '\(name)' \(rule)"
        case .unknownRole(let role, let known):
            "there is no role '\(role)'; the roles are \(known.joined(separator: ", "))"
        case .holder(let role, let name, let rule): "holder '\(name)' of \(role) \(rule)"
        case .threshold(let role, let wanted, let holders):
            "role \(role) cannot require \(wanted) of \(Words.count(holders, "key"))"
        case .bits(let bits): "RSA keys need 2,048 to 8,192 bits, not \(bits)"
        }
    }
}
