package import PatchFormat
import PatchCrypto
package import PatchTrust

/// One difference between a draft and its base.
package enum TrustDifference: Equatable, Sendable {
    case version(role: String, from: Int?, to: Int, expires: UTCTime, before: UTCTime?)
    case newChannel(ChannelName)
    case retired(ChannelName)
    case added(TUFKey, to: TrustRole)
    case removed(TUFKey, from: TrustRole)
    case threshold(of: TrustRole, from: Int?, to: Int, keys: Int)

    /// All differences, versions first.
    static func all(from base: TopRoles?, _ before: Authorities?, to draft: TrustDraft, _ after: TopRoles)
        throws(CeremonyError) -> [TrustDifference]
    {
        var found: [TrustDifference] = []
        if draft.root != nil { found.append(version("root", base?.root.header, after.root.header)) }
        if draft.targets != nil { found.append(version("targets", base?.targets.header, after.targets.header)) }
        let authorities = try Authorities(after)
        found += authorities.retired.subtracting(before?.retired ?? []).sorted().map { .retired($0) }
        for role in authorities.roles {
            guard let new = authorities[role] else { continue }
            found += differences(of: role, from: before?[role], to: new, isNewApp: base == nil)
        }
        return found
    }

    private static func version(_ role: String, _ old: RoleHeader?, _ new: RoleHeader) -> TrustDifference {
        .version(role: role, from: old?.version, to: new.version, expires: new.expires, before: old?.expires)
    }

    private static func differences(of role: TrustRole, from old: RoleKeys?, to new: RoleKeys, isNewApp: Bool)
        -> [TrustDifference]
    {
        var found: [TrustDifference] = []
        if case .channel(let name) = role, old == nil, !isNewApp { found.append(.newChannel(name)) }
        found += sorted(old).filter { new.keys[$0.id] == nil }.map { .removed($0, from: role) }
        found += sorted(new).filter { old?.keys[$0.id] == nil }.map { .added($0, to: role) }
        if old?.threshold != new.threshold {
            found.append(.threshold(of: role, from: old?.threshold, to: new.threshold, keys: new.keys.count))
        }
        return found
    }

    private static func sorted(_ keys: RoleKeys?) -> [TUFKey] {
        (keys?.keys ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }
}
