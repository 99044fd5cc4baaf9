package import PatchFormat

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
