package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// A root of trust that devices would accept.
package struct OfferedTrust: Sendable {
    let chain: RootChain
    let trust: RootOfTrust

    /// Checks whether devices would accept an offered root of trust, before anything uploaded with it is read.
    ///
    /// Reading needs no lock; ``TakeTrust`` checks again.
    @discardableResult
    package init(_ offered: TrustUpload, to repository: AppRepository, at now: UTCTime) throws(ServerError) {
        guard offered.app == repository.app else {
            throw .trust(.otherApp(found: offered.app, expected: repository.app))
        }
        chain = try RootChain(of: repository.tree, continuedBy: offered)
        trust = try RootOfTrust(servedUnder: chain.newest, targets: offered.targets, at: now)
        try repository.refuseTestingKeys(in: trust)
    }

    /// Rejects a root that lists none of the earlier online keys, if the server's own is encrypted.
    ///
    /// Otherwise an operator would be asked for the passphrase of a key that is no longer listed.
    package static func checkOnlineKeyStays(
        under offered: TrustUpload,
        in repository: AppRepository,
        at now: UTCTime
    ) throws(ServerError) {
        let tree = repository.tree
        guard OnlineKey.isEncrypted(try tree.read(tree.onlineKeyFile, limit: Limits.keyFile)) else { return }
        let new = try OfferedTrust(offered, to: repository, at: now)
        let old = try PublishedState(of: tree, under: new.chain, offered: offered).root.keys(of: "timestamp").keys.keys
        guard !Set(old).isDisjoint(with: new.trust.root.keys(of: "timestamp").keys.keys) else {
            throw .trust(.otherOnlineKey)
        }
    }
}

extension RootChain {
    /// Whether targets pass from one root's keys to a later root's without a gap: every root from `old` on accepts them, and all of
    /// them accept the same snapshot and timestamp.
    func handsOver(_ targets: [UInt8], from old: RootRole) -> Bool {
        guard let envelope = try? Envelope(targets, role: "targets", limit: Limits.targetsRole) else { return false }
        let later = roots.map(\.role).filter { $0.header.version >= old.header.version }
        guard newest.role.keys(of: "targets") != old.keys(of: "targets") else { return false }
        return later.allSatisfy { root in
            let keys = root.keys(of: "targets")
            return keys.validSignatures(on: envelope) >= keys.threshold
                && ["snapshot", "timestamp"].allSatisfy { root.keys(of: $0) == old.keys(of: $0) }
        }
    }
}
