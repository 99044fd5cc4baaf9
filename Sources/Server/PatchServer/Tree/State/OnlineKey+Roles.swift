import PatchFormat
import PatchCrypto
package import PatchTrust

extension OnlineKey {
    /// Whether this key, alone, signs snapshot, timestamp and dial, and no other role lists it.
    ///
    /// A release key on a server would let whoever takes the server approve releases.
    package func check(root: RootRole, targets: TargetsRole) throws(ServerError) {
        var offline = [("root", root.keys(of: "root")), ("targets", root.keys(of: "targets"))]
        offline += targets.delegations.filter { $0.name != "dial" }.map { ($0.name, $0.keys) }
        let owner = offline.first { $0.1.entry(of: publicKey) != nil }?.0
        guard let dial = targets.delegation(to: "dial") else {
            throw .setup(document: "targets.json", rule: "delegates to no dial")
        }
        let online = [
            ("timestamp", root.keys(of: "timestamp")), ("snapshot", root.keys(of: "snapshot")), ("dial", dial.keys),
        ]
        for (role, keys) in online {
            guard owner == nil, keys.entry(of: publicKey) != nil else {
                throw .notOnlineKey(role: role, belongsTo: owner)
            }
            guard keys.threshold == 1 else {
                throw .setup(document: role, rule: Self.rule(threshold: keys.threshold))
            }
        }
    }

    package static func rule(threshold: Int) -> String { "asks for \(threshold) signatures; a server makes one" }
}
