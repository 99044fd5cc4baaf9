import PatchFormat
import PatchCrypto
import PatchTrust

/// What keys may sign here.
extension AppRepository {
    func checkOnlineKey(_ key: OnlineKey, in state: PublishedState) throws(ServerError) {
        try refuseTestingKey(key.publicKey, of: "online key")
        try key.check(root: state.root, targets: state.targets)
    }

    func refuseTestingKey(_ key: PublicKey, of use: String) throws(ServerError) {
        if !allowsTestingKeys, TestingKeys.contains(key) { throw .testingKey(use) }
    }

    func refuseTestingKeys(of role: String, _ keys: RoleKeys) throws(ServerError) {
        if !allowsTestingKeys, keys.holdsTestingKey { throw .testingKey(role) }
    }

    func refuseTestingKeys(in trust: RootOfTrust) throws(ServerError) {
        for role in RootRole.roleNames { try refuseTestingKeys(of: role, trust.root.keys(of: role)) }
        for delegation in trust.targets.delegations {
            try refuseTestingKeys(of: delegation.name, delegation.keys)
        }
    }

    func refuseTestingKeys(_ keys: EntryKeys, of use: String) throws(ServerError) {
        for key in keys.keys.values { try refuseTestingKey(key, of: use) }
    }
}
