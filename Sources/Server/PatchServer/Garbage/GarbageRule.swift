package import PatchFormat

/// How much of the past a server keeps.
package struct GarbageRule: Equatable, Sendable {
    /// How many superseded releases of each channel are kept complete, newest first, for a rollback.
    package let keep: Int
    /// How long superseded metadata and unreferenced files are kept: readers may still use them, and caches may refer to them.
    package let protect: Duration

    package init(keep: Int = 10, protect: Duration = .hours(48)) {
        self.keep = keep
        self.protect = protect
    }
}

/// The versions of roles to keep.
///
/// These are the roles in the current snapshot, the roles in snapshots that were current within the protected time, and the newest
/// superseded releases of each channel. A version above the current one stays as well: an interrupted publish left it, and the next
/// publish reuses or skips it. Roots and top targets roles are kept for ever.
struct KeptRoles: Equatable, Sendable {
    struct Facts: Sendable {
        let listing: TreeListing
        let history: SnapshotHistory
        let currentSnapshot: Int
        /// The version of every role in a snapshot, by the snapshot's version: the current one and those below it.
        let snapshots: [Int: [String: Int]]
        /// The last version of each channel that was ever published.
        let lastVersions: [ChannelName: Int]
    }

    let snapshots: Set<Int>
    let dials: Set<Int>
    let channels: [ChannelName: Set<Int>]

    /// - Parameter pinned: releases that stay, regardless of age.
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

/// Needed files outside the published tree, beside drafts: of releases being uploaded, and of proposals.
package struct GarbagePins: Equatable, Sendable {
    /// Superseded releases that a rollback may publish again.
    ///
    /// They are kept complete.
    package var releases: [ChannelName: Set<Int>] = [:]
    /// Files that an upload omitted, because the tree has them.
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
