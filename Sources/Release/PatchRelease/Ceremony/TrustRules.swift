import PatchFormat
package import PatchCrypto
import PatchTrust

/// The rules for every root of trust that this program makes or signs.
package struct TrustRules: Sendable {
    package let policy: KeyPolicy
    /// Known entry keys.
    ///
    /// They must not sign a role.
    package let entryKeys: [PublicKey]

    package init(policy: KeyPolicy, entryKeys: [PublicKey]) {
        self.policy = policy
        self.entryKeys = entryKeys
    }

    func check(_ authorities: Authorities) throws(CeremonyError) {
        for role in authorities.roles {
            guard let keys = authorities[role] else { continue }
            try check(keys, of: role)
        }
        if let both = authorities.retired.intersection(authorities.channels.keys).min() { throw .retired(both) }
        try checkUses(authorities)
    }

    private func check(_ keys: RoleKeys, of role: TrustRole) throws(CeremonyError) {
        var material: Set<PublicKey> = []
        for (id, key) in keys.keys.sorted(by: { $0.key < $1.key }) {
            guard let publicKey = key.publicKey, key.signsRoles else { throw .unusableKey(KeyID(id), role: role) }
            guard policy.allowsTestingKeys || !TestingKeys.contains(publicKey) else { throw .testingKey(role: role) }
            material.insert(publicKey)
        }
        guard keys.threshold >= 1, keys.threshold <= material.count else {
            throw .threshold(role: role, wanted: keys.threshold, keys: material.count)
        }
    }

    private func checkUses(_ authorities: Authorities) throws(CeremonyError) {
        for role in authorities.roles {
            for (id, key) in authorities[role]?.keys.sorted(by: { $0.key < $1.key }) ?? [] {
                guard let publicKey = key.publicKey else { continue }
                if entryKeys.contains(publicKey) { throw .keyInTwoUses(KeyID(id), "role \(role)", "entries") }
                guard role != .online, authorities.roles(of: publicKey).contains(.online) else { continue }
                throw .keyInTwoUses(KeyID(id), "role \(role)", "role \(TrustRole.online)")
            }
        }
    }
}

extension TUFKey {
    /// Whether the scheme can sign roles and matches the key.
    var signsRoles: Bool {
        switch (scheme, publicKey?.kind) {
        case (.rsaPSS, .rsa), (.ed25519, .ed25519), (.ecdsaP256, .p256): true
        case (_, _): false
        }
    }
}
