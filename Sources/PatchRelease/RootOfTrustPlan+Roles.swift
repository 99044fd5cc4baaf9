package import PatchFormat
package import PatchTrust

extension RootOfTrustPlan {
    /// Root and targets keys are offline and live long.
    package static let validity: Duration = .days(365)

    /// `root.json` and `targets.json`, version 1, signed by all holders.
    ///
    /// - Parameter keys: one for each of ``keyNames``.
    package func roles(keys: [String: PrivateKey], at time: UTCTime) throws(KeyError) -> (
        root: Envelope, targets: Envelope
    ) {
        let expires = time.adding(Self.validity)
        var root = RoleDocument.root(
            app: app,
            version: 1,
            expires: expires,
            roles: [
                "root": signers(of: "root", keys), "targets": signers(of: "targets", keys),
                "snapshot": onlineSigner(keys), "timestamp": onlineSigner(keys),
            ]
        )
        var targets = RoleDocument.targets(
            version: 1,
            expires: expires,
            delegations: channels.map { .channel($0, signers: signers(of: $0.text, keys)) }
                + [.dial(signers: onlineSigner(keys))]
        )
        for name in self.keys(of: "root") { try Self.sign(&root, with: keys[name]) }
        for name in self.keys(of: "targets") { try Self.sign(&targets, with: keys[name]) }
        return (root, targets)
    }

    private func signers(of role: String, _ keys: [String: PrivateKey]) -> RoleDocument.Signers {
        RoleDocument.Signers(
            keys: self.keys(of: role).compactMap { keys[$0] }.map(Self.tufKey),
            threshold: threshold(of: role)
        )
    }

    private func onlineSigner(_ keys: [String: PrivateKey]) -> RoleDocument.Signers {
        RoleDocument.Signers(keys: [keys[Self.online]].compactMap { $0 }.map(Self.tufKey), threshold: 1)
    }

    private static func tufKey(_ key: PrivateKey) -> TUFKey {
        TUFKey(key.publicKey)
    }

    private static func sign(_ role: inout Envelope, with key: PrivateKey?) throws(KeyError) {
        guard let key else { preconditionFailure("a plan's keys are all made before its roles are signed") }
        try role.sign(with: key, id: tufKey(key).id)
    }
}
