package import PatchFormat

/// How much of the past a server keeps.
package struct GarbageRule: Equatable, Sendable {
    /// How many superseded releases of each channel stay whole, newest first, so that one can be gone back to.
    package let keep: Int
    /// How long superseded metadata stays, and what nothing refers to: readers may be in the middle of it, and caches
    /// lead to it.
    package let protect: Duration

    package init(keep: Int = 10, protect: Duration = .hours(48)) {
        self.keep = keep
        self.protect = protect
    }
}

/// Which versions of roles stay.
///
/// What the current snapshot refers to, what a snapshot refers to that was current within the protected time, and the
/// newest superseded releases of each channel. A number above the current one stays as well: an interrupted publish left
/// it, and the next one takes it or passes it. Roots and top targets roles stay for ever.
struct KeptRoles: Equatable, Sendable {
    struct Facts: Sendable {
        let listing: TreeListing
        let history: SnapshotHistory
        let currentSnapshot: Int
        /// The version of every role that a snapshot names, by its own version: the current one and those below it.
        let snapshots: [Int: [String: Int]]
        /// The last version of each channel that was ever published.
        let lastVersions: [ChannelName: Int]
    }

    let snapshots: Set<Int>
    let dials: Set<Int>
    let channels: [ChannelName: Set<Int>]

    /// - Parameter pinned: releases that stay, however old.
    init(_ facts: Facts, by rule: GarbageRule, pinning pinned: [ChannelName: Set<Int>] = [:]) {
        let horizon = facts.history.horizon(protecting: rule.protect)
        let existing = facts.listing.versions(of: "snapshot")
        let kept = existing.filter { version in
            version >= facts.currentSnapshot || facts.history.superseded(version) > horizon
        }
        var named: [String: Set<Int>] = [:]
        for version in kept {
            for (role, number) in facts.snapshots[version] ?? [:] { named[role, default: []].insert(number) }
        }
        let currentDial = facts.snapshots[facts.currentSnapshot]?["dial"] ?? 0
        dials = Set(
            facts.listing.versions(of: "dial").filter {
                $0 >= currentDial || named["dial"]?.contains($0) == true
            }
        )
        snapshots = Set(kept)
        var channels: [ChannelName: Set<Int>] = [:]
        for (channel, versions) in facts.listing.channels {
            let last = facts.lastVersions[channel] ?? 0
            let isCurrent = facts.snapshots[facts.currentSnapshot]?[channel.text] != nil
            let superseded = versions.filter { isCurrent ? $0 < last : $0 <= last }
            let needed = (named[channel.text] ?? []).union(pinned[channel] ?? [])
            channels[channel] = Set(versions.filter { $0 >= last && isCurrent || $0 > last })
                .union(versions.filter(needed.contains)).union(superseded.suffix(rule.keep))
        }
        self.channels = channels
    }

    func contains(_ file: TreePath.File) -> Bool {
        switch file {
        case .timestamp, .root, .role("targets", _): true
        case .role("snapshot", let version): snapshots.contains(version)
        case .role("dial", let version): dials.contains(version)
        case .role(let name, let version): ChannelName(name).map { channels[$0]?.contains(version) == true } ?? true
        case .target, .object, .pack, .basePack, .packIndex, .express, .gateway, .compressed: false
        }
    }
}

/// What something outside the published tree counts on, beside drafts: releases on their way in, and proposals.
package struct GarbagePins: Equatable, Sendable {
    /// Superseded releases that somebody wants to go back to: they stay whole.
    package var releases: [ChannelName: Set<Int>] = [:]
    /// What an upload was not asked for, because the tree has it.
    package var targets: Set<TreePath.File> = []
    package var objects: Set<SHA256Digest> = []

    package static let none = GarbagePins()

    package init() {}

    package mutating func merge(_ other: GarbagePins) {
        releases.merge(other.releases) { $0.union($1) }
        targets.formUnion(other.targets)
        objects.formUnion(other.objects)
    }
}
