import PatchFormat
import PatchCrypto
import PatchTrust

/// The roles of a simulated repository as bytes.
extension SimulatedTUF {
    func signed(_ name: String) -> [UInt8] {
        let role = self[name]
        var part = JSONObject()
        for (key, value) in header(name, role) + body(name, role) + role.members { part[key] = value }
        let message = JSON.object(part).canonicalBytes
        let signatures = role.signers.map { ($0.id, $0.signature(over: message)) } + role.moreSignatures
        return JSON.fields([
            ("signed", .object(part)),
            ("signatures", .array(signatures.map { .fields([("keyid", .text($0)), ("sig", .text($1))]) })),
        ]).fileBytes
    }

    private func header(_ name: String, _ role: Role) -> [(String, JSON)] {
        [
            ("_type", .text(Self.topRoles.contains(name) ? name : "targets")), ("spec_version", .text("1.0.34")),
            ("version", .integer(role.version)), ("expires", .text(role.expires.description)),
        ]
    }

    private func body(_ name: String, _ role: Role) -> [(String, JSON)] {
        switch name {
        case "root":
            (omitsConsistentSnapshot ? [] : [("consistent_snapshot", .bool(consistentSnapshot))]) + [
                ("keys", Self.table(of: Array(keys.values))), ("roles", .fields(keys.map { ($0, .fields($1.json)) })),
            ]
        case "timestamp": [("meta", .fields([("snapshot.json", snapshotFile)]))]
        case "snapshot": [("meta", .fields(meta.map { ("\($0.text).json", $1) }))]
        default:
            [("targets", .fields(role.targets.map { ($0.text, $1) }))]
                + (role.delegations.isEmpty ? [] : [("delegations", delegations(of: role))])
        }
    }

    private func delegations(of role: Role) -> JSON {
        .fields([
            ("keys", Self.table(of: role.delegations.map(\.keys))),
            ("roles", .array(role.delegations.map(\.json))),
        ])
    }

    private static func table(of keys: [Keys]) -> JSON {
        let listed = keys.flatMap(\.signers).map { ($0.id, $0.key.json) }
        return .fields(Dictionary(listed) { first, _ in first }.map { ($0, $1) })
    }
}
