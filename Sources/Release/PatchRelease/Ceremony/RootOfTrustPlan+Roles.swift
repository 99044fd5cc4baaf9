package import PatchFormat
package import PatchCrypto
package import PatchTrust

extension RootOfTrustPlan {
    /// Root and targets keys are offline, so their roles are valid for a long time.
    package static let validity: Duration = .days(365)

    /// `root.json` and `targets.json`, version 1, signed by all holders.
    ///
    /// - Parameter keys: A key for each of ``keyNames``.
    package func roles(keys: [String: PrivateKey], at time: UTCTime) throws(KeyError) -> (
        root: Envelope, targets: Envelope
    ) {
        try roles(keys: keys, elsewhere: [:], at: time)
    }

    /// `root.json` and `targets.json`, version 1, signed with the available private keys.
    ///
    /// - Parameter elsewhere: Public keys made elsewhere. Together with `keys`, they contain one for each of ``keyNames``.
    package func roles(
        keys: [String: PrivateKey],
        elsewhere: [String: PublicKey],
        at time: UTCTime
    ) throws(KeyError) -> (root: Envelope, targets: Envelope) {
        let expires = time.adding(Self.validity)
        let listed = elsewhere.merging(keys.mapValues(\.publicKey)) { first, _ in first }
        let online = signers(of: [Self.online], 1, listed)
        var root = RoleDocument.root(
            app: app,
            version: 1,
            expires: expires,
            roles: [
                "root": signers(of: self.keys(of: "root"), threshold(of: "root"), listed),
                "targets": signers(of: self.keys(of: "targets"), threshold(of: "targets"), listed),
                "snapshot": online, "timestamp": online,
            ]
        )
        var targets = RoleDocument.targets(
            app: app,
            version: 1,
            expires: expires,
            delegations: channels.map { channel in
                .channel(
                    channel,
                    signers: signers(of: self.keys(of: channel.text), threshold(of: channel.text), listed)
                )
            } + [.dial(signers: online)]
        )
        for key in self.keys(of: "root").compactMap({ keys[$0] }) { try Self.sign(&root, with: key) }
        for key in self.keys(of: "targets").compactMap({ keys[$0] }) { try Self.sign(&targets, with: key) }
        return (root, targets)
    }

    private func signers(of names: [String], _ threshold: Int, _ keys: [String: PublicKey]) -> RoleDocument.Signers {
        RoleDocument.Signers(keys: names.compactMap { keys[$0] }.map { TUFKey($0) }, threshold: threshold)
    }

    private static func sign(_ role: inout Envelope, with key: PrivateKey) throws(KeyError) {
        try role.sign(with: key, id: TUFKey(key.publicKey).id)
    }
}
