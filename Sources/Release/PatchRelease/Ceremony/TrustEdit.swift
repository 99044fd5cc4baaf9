package import PatchFormat
package import PatchCrypto
package import PatchTrust
package import SystemPackage

/// A requested change of a role's keys or of the channels.
package enum TrustEdit: Equatable, Sendable {
    /// Adds a key to a role. It replaces the online key, and creates a channel that does not exist yet.
    case add(PublicKey, TrustRole)
    case remove(KeySelector, TrustRole)
    case threshold(Int, TrustRole)
    /// Retires a channel permanently.
    case retire(ChannelName)
}

/// A key of a role, as named on a command line.
package enum KeySelector: Hashable, Sendable, CustomStringConvertible {
    case key(PublicKey)
    /// The beginning of a key id, in hex.
    case id(String)

    package var description: String {
        switch self {
        case .key(let key): "key \(KeyID(TUFKey(key).id))"
        case .id(let text): text
        }
    }

    func matches(_ id: SHA256Digest, _ key: TUFKey) -> Bool {
        switch self {
        case .key(let wanted): key.publicKey == wanted
        case .id(let prefix): id.hex.hasPrefix(prefix)
        }
    }
}

extension RoleKeys {
    /// The only key of `role` that the selector matches.
    package func find(_ selector: KeySelector, in role: String) throws(CeremonyError) -> SHA256Digest {
        let found = keys.filter { selector.matches($0.key, $0.value) }
        guard let only = found.keys.first else { throw .unknownKey("\(selector)", role: role) }
        guard found.count == 1 else { throw .ambiguousKey("\(selector)", role: role) }
        return only
    }
}

extension Authorities {
    mutating func apply(_ edit: TrustEdit) throws(CeremonyError) {
        switch edit {
        case .add(let key, let role):
            if case .channel(let name) = role, retired.contains(name) { throw .retired(name) }
            let added = TUFKey(key)
            var keys = role == .online ? [:] : self[role]?.keys ?? [:]
            guard self[role]?.keys.values.contains(where: { $0.publicKey == key }) != true else {
                throw .alreadyListed(KeyID(added.id), role: role)
            }
            keys[added.id] = added
            self[role] = RoleKeys(threshold: self[role]?.threshold ?? 1, keys: keys)
        case .remove(let selector, let role):
            let found = try known(role)
            var keys = found.keys
            keys[try found.find(selector, in: "\(role)")] = nil
            self[role] = RoleKeys(threshold: found.threshold, keys: keys)
        case .retire(let channel):
            if retired.contains(channel) { throw .retired(channel) }
            _ = try known(.channel(channel))
            guard channels.count > 1 else { throw .lastChannel(channel) }
            channels[channel] = nil
            retired.insert(channel)
        case .threshold(let count, let role):
            self[role] = RoleKeys(threshold: count, keys: try known(role).keys)
        }
    }

    private func known(_ role: TrustRole) throws(CeremonyError) -> RoleKeys {
        guard let keys = self[role] else { throw .unknownRole("\(role)", known: roles.map(\.description)) }
        return keys
    }
}

extension TrustDraft {
    /// Root and targets keys are offline, so their roles are valid for a long time.
    package static let validity = RootOfTrustPlan.validity

    /// Applies the edits to `base`: the next version of each changed role, unsigned.
    ///
    /// Without edits, both roles are renewed with a new expiry. Targets are also renewed if the next root's keys did not sign
    /// them.
    package init(
        _ edits: [TrustEdit],
        on base: TopRoles,
        at time: UTCTime,
        validity: Duration = validity,
        rules: TrustRules
    ) throws(CeremonyError) {
        let before = try Authorities(base)
        var after = before
        for edit in edits { try after.apply(edit) }
        try rules.check(after)
        guard edits.isEmpty || after != before else { throw .nothingChanges }
        guard let app = base.root.app else { throw .unexplained(role: "root", field: "x-patchline-app") }
        let expires = time.adding(validity)
        let changesOnline = after.online != before.online
        let changesRoot = changesOnline || after.root != before.root || after.targets != before.targets
        let changesTargets =
            changesOnline || after.channels != before.channels || after.retired != before.retired
            || !after.targets.accept(base.targetsEnvelope)
        self.init(app: app, base: base.base, root: nil, targets: nil)
        if edits.isEmpty || changesRoot {
            let version = base.root.header.version + 1
            root = Envelope(role: "root", signing: after.root(changing: base, version: version, expires: expires))
        }
        if edits.isEmpty || changesTargets {
            let version = base.targets.header.version + 1
            let signed = after.targets(changing: base, naming: app, version: version, expires: expires)
            targets = Envelope(role: "targets", signing: signed)
        }
    }
}

extension RoleKeys {
    func accept(_ envelope: Envelope) -> Bool { validSignatures(on: envelope) >= threshold }
}

extension Authorities {
    /// The edits that remove a key from every role that lists it.
    package func revoking(_ selector: KeySelector, in folder: FilePath) throws(SigningError) -> [TrustEdit] {
        let listed = roles.flatMap { role in (self[role]?.keys ?? [:]).map { (role: role, id: $0.key, key: $0.value) } }
        let found = listed.filter { selector.matches($0.id, $0.key) }
        return try ceremony(folder) { () throws(CeremonyError) in
            guard !found.isEmpty else { throw .unknownKey("\(selector)", role: "any role") }
            guard Set(found.map(\.id)).count == 1 else { throw .ambiguousKey("\(selector)", role: "all roles") }
            return found.map { .remove(.id($0.id.hex), $0.role) }
        }
    }
}
