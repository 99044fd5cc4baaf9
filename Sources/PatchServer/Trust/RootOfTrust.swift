package import PatchFormat
package import PatchTrust

/// What `patchsign init` wrote for the server, verified: the root of trust and the top targets role.
package struct RootOfTrust: Sendable {
    let rootBytes: [UInt8]
    let targetsBytes: [UInt8]
    package let app: AppID
    package let root: RootRole
    package let targets: TargetsRole

    /// - Throws: `setup` with the rule that `root` or `targets` breaks.
    package init(root rootBytes: [UInt8], targets targetsBytes: [UInt8], at now: UTCTime) throws(ServerError) {
        let trusted: TrustedMetadata
        do throws(TrustError) {
            trusted = try TrustedMetadata(trustedRoot: rootBytes, at: now)
        } catch { throw Self.refused("root.json", error) }
        try self.init(trusted.root, rootBytes: rootBytes, targets: targetsBytes, at: now)
    }

    /// - Parameter root: verified already.
    init(
        _ root: RootRole,
        rootBytes: [UInt8],
        targets targetsBytes: [UInt8],
        at now: UTCTime
    ) throws(ServerError) {
        guard root.header.expires > now else {
            throw Self.refused("root.json", .expired(role: "root", expires: root.header.expires, at: now))
        }
        let targets: TargetsRole
        let envelope: Envelope
        do throws(FormatError) {
            envelope = try Envelope(targetsBytes, role: "targets", limit: Limits.targetsRole)
            targets = try TargetsRole(envelope, name: "targets")
        } catch { throw .malformed(error) }
        do throws(TrustError) {
            try root.keys(of: "targets").check(envelope, role: "targets")
        } catch { throw Self.refused("targets.json", error) }
        guard let app = root.app else { throw .setup(document: "root.json", rule: "names no app (x-patchline-app)") }
        guard app.text != "api" else {
            throw .setup(document: "root.json", rule: "is of an app named api: the release service answers there")
        }
        guard root.consistentSnapshot else { throw .setup(document: "root.json", rule: "must set consistent_snapshot") }
        guard targets.targets.isEmpty else {
            throw .setup(document: "targets.json", rule: "must hold delegations only")
        }
        guard targets.header.expires > now else {
            throw .setup(document: "targets.json", rule: "expired at \(targets.header.expires)")
        }
        self.rootBytes = rootBytes
        self.targetsBytes = targetsBytes
        self.app = app
        self.root = root
        self.targets = targets
    }

    private static func refused(_ document: String, _ error: TrustError) -> ServerError {
        if case .malformed(let format) = error { return .malformed(format) }
        return .setup(document: document, rule: "is not trusted: \(error)")
    }
}
