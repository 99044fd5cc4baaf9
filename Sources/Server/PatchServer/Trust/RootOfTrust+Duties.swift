package import PatchFormat
package import PatchTrust

/// The output of `patchsign init` for the server.
extension RootOfTrust {
    package static var appRule: String { "names no app (x-patchline-app)" }
    package static var snapshotRule: String { "must set consistent_snapshot" }
    package static var targetsRule: String { "must contain only delegations" }

    /// A root of trust that a server can publish under.
    ///
    /// - Throws: `setup` with the rule that `root` or `targets` breaks.
    package init(root: [UInt8], targets: [UInt8], at now: UTCTime) throws(ServerError) {
        let anchor: TrustedRoot
        do throws(TrustError) { anchor = try TrustedRoot(anchor: root) } catch { throw refused("root.json", error) }
        try self.init(servedUnder: anchor, targets: targets, at: now)
    }

    /// - Throws: the errors of ``init(root:targets:at:)``.
    init(servedUnder root: TrustedRoot, targets bytes: [UInt8], at now: UTCTime) throws(ServerError) {
        guard root.role.header.expires > now else {
            throw refused("root.json", .expired(role: "root", expires: root.role.header.expires, at: now))
        }
        guard root.app != nil else { throw .setup(document: "root.json", rule: Self.appRule) }
        do throws(TrustError) { try self.init(root, targets: bytes) } catch { throw refused("targets.json", error) }
        guard app.text != "api" else {
            throw .setup(document: "root.json", rule: "is for an app named api, which is a path of the release service")
        }
        guard self.root.consistentSnapshot else {
            throw .setup(document: "root.json", rule: Self.snapshotRule)
        }
        guard targets.targets.isEmpty else {
            throw .setup(document: "targets.json", rule: Self.targetsRule)
        }
        guard targets.header.expires > now else {
            throw .setup(document: "targets.json", rule: "expired at \(targets.header.expires)")
        }
    }
}

extension RootOfTrust {
    /// - Precondition: the key was checked against this root of trust.
    func signers(_ key: OnlineKey) -> FreshRoles.Signers {
        guard let dial = targets.delegation(to: "dial") else { preconditionFailure("the key was checked against it") }
        return FreshRoles.Signers(key: key, root: root, dial: dial.keys)
    }
}

private func refused(_ document: String, _ error: TrustError) -> ServerError {
    if case .malformed(let format) = error { return .malformed(format) }
    return .setup(document: document, rule: "is not trusted: \(error)")
}
