import PatchFormat
import PatchCrypto
import PatchTrust

/// The signed parts of root and targets for other authorities. They are made from those of the base: all members that are not
/// about keys stay unchanged, including unknown ones.
extension Authorities {
    func root(changing base: TopRoles, version: Int, expires: UTCTime) -> JSON {
        var signed = base.rootEnvelope.signed.object ?? JSONObject()
        signed["version"] = .integer(version)
        signed["expires"] = .text(expires.description)
        var rows = signed["roles"]?.object ?? JSONObject()
        var (old, new): ([RoleKeys], [RoleKeys]) = ([], [])
        for (name, keys) in [("root", root), ("targets", targets), ("snapshot", online), ("timestamp", online)] {
            let before = base.root.keys(of: name)
            if keys != before { rows[name] = Self.row(rows[name], keys) }
            old.append(before)
            new.append(keys)
        }
        signed["roles"] = .object(rows)
        signed["keys"] = Self.table(signed["keys"], from: old, to: new)
        return .object(signed)
    }

    /// - Parameter app: The app to name; nil keeps the base's member. An earlier Patchline named the app only in root.
    func targets(changing base: TopRoles, naming app: AppID?, version: Int, expires: UTCTime) -> JSON {
        var signed = base.targetsEnvelope.signed.object ?? JSONObject()
        if let app { signed[RoleHeader.appMember] = .text(app.text) }
        signed["version"] = .integer(version)
        signed["expires"] = .text(expires.description)
        if !retired.isEmpty {
            signed[TargetsRole.retiredMember] = .array(retired.sorted().map { .text($0.text) })
        }
        var part = signed["delegations"]?.object ?? JSONObject()
        guard case .array(var rows) = part["roles"] else { return .object(signed) }
        var (old, new): ([RoleKeys], [RoleKeys]) = ([], [])
        for (index, delegation) in base.targets.delegations.enumerated() {
            let keys = self.keys(of: delegation)
            if keys != delegation.keys { rows[index] = Self.row(rows[index], keys) }
            old.append(delegation.keys)
            new.append(keys)
        }
        // The row of a removed channel that is not retired is kept, so that the comparison finds the difference.
        rows = zip(base.targets.delegations, rows).filter { !isRemoved($0.0) }.map(\.1)
        let names = base.targets.delegations.filter { !isRemoved($0) }.map(\.name)
        new = zip(base.targets.delegations, new).filter { !isRemoved($0.0) }.map(\.1)
        let added = channels.filter { base.targets.delegation(to: $0.key.text) == nil }.sorted { $0.key < $1.key }
        let dial = names.firstIndex(of: "dial") ?? rows.count
        rows.insert(contentsOf: added.map { Self.draft(of: $0.key, $0.value).row }, at: dial)
        part["roles"] = .array(rows)
        part["keys"] = Self.table(part["keys"], from: old, to: new + added.map(\.value))
        signed["delegations"] = .object(part)
        return .object(signed)
    }

    /// The first root and targets of an app.
    ///
    /// - Parameters:
    ///   - targetsApp: The app named in targets; nil in a draft of an earlier Patchline.
    ///   - order: The order of the channels.
    func first(
        app: AppID,
        targetsApp: AppID?,
        expires: (root: UTCTime, targets: UTCTime),
        order: [ChannelName]
    ) -> (root: Envelope, targets: Envelope) {
        let roles = ["root": root, "targets": targets, "snapshot": online, "timestamp": online]
        return (
            RoleDocument.root(app: app, version: 1, expires: expires.root, roles: roles.mapValues(Self.signers)),
            RoleDocument.targets(
                app: targetsApp,
                version: 1,
                expires: expires.targets,
                delegations: order.compactMap { name in channels[name].map { Self.draft(of: name, $0) } }
                    + [.dial(signers: Self.signers(online))]
            )
        )
    }

    private func isRemoved(_ delegation: Delegation) -> Bool {
        guard case .channel(let name) = TrustRole(delegation.name) else { return false }
        return channels[name] == nil && retired.contains(name)
    }

    private func keys(of delegation: Delegation) -> RoleKeys {
        if delegation.name == "dial" { return online }
        guard case .channel(let name) = TrustRole(delegation.name) else { return delegation.keys }
        return channels[name] ?? delegation.keys
    }

    private static func signers(_ keys: RoleKeys) -> RoleDocument.Signers {
        RoleDocument.Signers(keys: Array(keys.keys.values), threshold: keys.threshold)
    }

    private static func draft(of channel: ChannelName, _ keys: RoleKeys) -> RoleDocument.DelegationDraft {
        .channel(channel, signers: signers(keys))
    }

    private static func row(_ row: JSON?, _ keys: RoleKeys) -> JSON {
        var row = row?.object ?? JSONObject()
        row["keyids"] = .array(keys.keys.keys.sorted().map { .text($0.hex) })
        row["threshold"] = .integer(keys.threshold)
        return .object(row)
    }

    /// The key table without keys that no role lists any longer, and with the new keys.
    private static func table(_ table: JSON?, from old: [RoleKeys], to new: [RoleKeys]) -> JSON {
        var table = table?.object ?? JSONObject()
        let named = new.reduce(into: [:]) { all, keys in all.merge(keys.keys) { first, _ in first } }
        for id in Set(old.flatMap(\.keys.keys)) where named[id] == nil { table[id.hex] = nil }
        for (id, key) in named.sorted(by: { $0.key < $1.key }) where table[id.hex] == nil { table[id.hex] = key.json }
        return .object(table)
    }
}

extension JSON {
    /// The path of the first difference from another document, in the order of the member names; nil if they are equal.
    func firstDifference(from other: JSON, at path: String = "") -> String? {
        switch (self, other) {
        case (.object(let one), .object(let two)):
            let names = Set((one.members + two.members).map(\.key)).sorted()
            return names.lazy.compactMap { name -> String? in
                let inner = path.isEmpty ? name.text : "\(path).\(name)"
                guard let left = one[name.text], let right = two[name.text] else { return inner }
                return left.firstDifference(from: right, at: inner)
            }.first
        case (.array(let one), .array(let two)) where one.count == two.count:
            return zip(one, two).enumerated().lazy.compactMap { index, pair in
                pair.0.firstDifference(from: pair.1, at: "\(path)[\(index)]")
            }.first
        case (.null, _), (.bool, _), (.integer, _), (.string, _), (.array, _), (.object, _):
            return self == other ? nil : path
        }
    }
}
