package import PatchFormat
import PatchCrypto
import PatchTrust

/// A draft compared with the roles it was made from.
///
/// Every change in it is described, and all rules are fulfilled. The description is verified: both roles are built again from the
/// base and the differences found, and must equal the draft's roles. A draft with any other change is rejected. Pure: no file, no
/// clock.
package struct TrustChange: Sendable {
    package let base: TopRoles?
    package let draft: TrustDraft
    /// The roles after the draft is published.
    package let after: TopRoles
    package let differences: [TrustDifference]
    package let quorums: [TrustQuorum]
    /// The signatures of the present root's keys on targets that other keys sign from now on; nil if the keys do not change.
    ///
    /// Publishing does not require them, so that it works after a loss of those keys. With them, every reader always finds
    /// targets that its root's keys have signed.
    package let handover: TrustQuorum?

    /// - Parameter base: The current roles; nil if none exist yet.
    package init(_ draft: TrustDraft, from base: TopRoles?, rules: TrustRules) throws(CeremonyError) {
        try Self.checkBase(of: draft, base)
        let after = try Self.after(draft, base)
        try Self.checkVersions(of: draft, base, after)
        try rules.check(try Authorities(after))
        try Self.checkWords(of: draft, base, after)
        if draft.targets == nil, !after.root.keys(of: "targets").accept(after.targetsEnvelope) { throw .targetsStay }
        let before = try base.map { (base) throws(CeremonyError) in try Authorities(base) }
        guard try Authorities(after).retired.isSuperset(of: before?.retired ?? []) else {
            throw .unexplained(role: "targets", field: TargetsRole.retiredMember)
        }
        differences = try TrustDifference.all(from: base, before, to: draft, after)
        try Self.checkForm(of: differences)
        quorums = Self.quorums(of: draft, base?.root, after.root)
        handover = Self.handover(of: draft, base?.root, after.root)
        (self.base, self.draft, self.after) = (base, draft, after)
    }

    package var isComplete: Bool { quorums.allSatisfy(\.isComplete) }

    /// Channels with a current release that may depend on a key removed by this change.
    package var weakenedChannels: [ChannelName] {
        differences.compactMap { difference in
            guard case .removed(_, from: .channel(let name)) = difference else { return nil }
            return name
        }
    }

    /// Checks the requirements for publishing: enough signatures and a valid expiry.
    package func checkReady(at time: UTCTime) throws(CeremonyError) {
        guard isComplete else { throw .incomplete(quorums.lacks) }
        try draft.checkExpiry(at: time)
    }

    static func quorums(of draft: TrustDraft, _ base: RootRole?, _ root: RootRole) -> [TrustQuorum] {
        var quorums: [TrustQuorum] = []
        if let envelope = draft.root {
            let (old, new) = (base?.keys(of: "root"), root.keys(of: "root"))
            if let old, old != new {
                quorums.append(TrustQuorum(.presentRoot, old, on: envelope))
                quorums.append(TrustQuorum(.nextRoot, new, on: envelope))
            } else {
                quorums.append(TrustQuorum(.root, new, on: envelope))
            }
        }
        if let envelope = draft.targets {
            quorums.append(TrustQuorum(.targets, root.keys(of: "targets"), on: envelope))
        }
        return quorums
    }

    private static func handover(of draft: TrustDraft, _ base: RootRole?, _ root: RootRole) -> TrustQuorum? {
        guard let envelope = draft.targets, let present = base?.keys(of: "targets"), present != root.keys(of: "targets")
        else { return nil }
        return TrustQuorum(.presentTargets, present, on: envelope)
    }

    /// Holders compare a new key's id, which covers every member of its object.
    private static func checkForm(of differences: [TrustDifference]) throws(CeremonyError) {
        for case .added(let key, let role) in differences where key.publicKey.map({ TUFKey($0) }) != key {
            throw .shapedKey(key.id, role: role)
        }
    }

    private static func checkBase(of draft: TrustDraft, _ base: TopRoles?) throws(CeremonyError) {
        if let app = base?.root.app, app != draft.app { throw .foreign(found: draft.app, expected: app) }
        let current = base?.base
        guard draft.base?.root == current?.root else {
            throw .moved(role: "root", base: draft.base?.root.version, found: current?.root.version)
        }
        guard draft.base?.targets == current?.targets else {
            throw .moved(role: "targets", base: draft.base?.targets.version, found: current?.targets.version)
        }
    }

    private static func after(_ draft: TrustDraft, _ base: TopRoles?) throws(CeremonyError) -> TopRoles {
        guard let root = draft.root ?? base?.rootEnvelope, let targets = draft.targets ?? base?.targetsEnvelope else {
            preconditionFailure("a draft without a base holds both roles")
        }
        do throws(FormatError) {
            return try TopRoles(root: root, targets: targets)
        } catch { throw .malformed(error) }
    }

    private static func checkVersions(of draft: TrustDraft, _ base: TopRoles?, _ after: TopRoles)
        throws(CeremonyError)
    {
        for (role, isNew, old, new) in [
            ("root", draft.root != nil, base?.root.header, after.root.header),
            ("targets", draft.targets != nil, base?.targets.header, after.targets.header),
        ] where isNew {
            let expected = (old?.version ?? 0) + 1
            guard new.version == expected else {
                throw .version(role: role, found: new.version, expected: expected)
            }
        }
    }

    private static func checkWords(of draft: TrustDraft, _ base: TopRoles?, _ after: TopRoles) throws(CeremonyError) {
        let authorities = try Authorities(after)
        let expires = (root: after.root.header.expires, targets: after.targets.header.expires)
        let (root, targets): (JSON, JSON)
        // A draft of an earlier Patchline names the app only in root; it must not name another app.
        let named = after.targets.header.app == nil ? nil : draft.app
        if let base {
            root = authorities.root(changing: base, version: after.root.header.version, expires: expires.root)
            targets = authorities.targets(
                changing: base,
                naming: named,
                version: after.targets.header.version,
                expires: expires.targets
            )
        } else {
            let order = after.targets.delegations.compactMap { ChannelName($0.name) }
            let first = authorities.first(app: draft.app, targetsApp: named, expires: expires, order: order)
            (root, targets) = (first.root.signed, first.targets.signed)
        }
        for (role, found, expected) in [("root", draft.root, root), ("targets", draft.targets, targets)] {
            guard let found else { continue }
            if let field = found.signed.firstDifference(from: expected) { throw .unexplained(role: role, field: field) }
        }
    }
}

extension TrustDraft {
    func checkExpiry(at time: UTCTime) throws(CeremonyError) {
        for envelope in [root, targets].compactMap(\.self) {
            let expires: UTCTime
            do throws(FormatError) {
                expires = try Fields(envelope.signed, of: envelope.role).time("expires")
            } catch { throw .malformed(error) }
            guard expires > time else { throw .expired(role: envelope.role, expires: expires) }
        }
    }
}
