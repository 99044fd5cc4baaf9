import Linux
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// Finds the files that are no longer needed.
///
/// A tree that does not verify does not show which files are needed.
package struct FindGarbage: Sendable {
    private let repository: AppRepository
    private let rule: GarbageRule
    private let clock: UTCTime
    private let pins: GarbagePins

    /// - Parameter pins: further files to keep.
    package init(
        in repository: AppRepository,
        by rule: GarbageRule,
        at clock: UTCTime,
        pinning pins: GarbagePins = .none
    ) {
        (self.repository, self.rule, self.clock, self.pins) = (repository, rule, clock, pins)
    }

    /// - Throws: `tree` or `treeFileMissing` if a needed file cannot be read. Then no file is garbage.
    package func run() throws(ServerError) -> GarbagePlan {
        let state = try PublishedState(of: repository)
        let listing = try repository.storage.listing()
        let facts = try facts(listing, state)
        let kept = KeptRoles(facts, by: rule, pinning: pins.releases)
        var plan = GarbagePlan(
            listing,
            of: app,
            keeping: kept,
            and: try needs(of: kept, published: facts.lastVersions, dial: state.dial.header.version),
            pinned: try pinnedByDrafts(state),
            horizon: facts.history.horizon(protecting: rule.protect)
        )
        plan.items[.drafts] = try lateDrafts(state)
        plan.add(try UsableForms(of: tree, state, at: clock).unused(in: listing), from: listing, of: app)
        return plan
    }

    private var tree: AppTree { repository.tree }
    private var app: AppID { repository.app }

    private func facts(_ listing: TreeListing, _ state: PublishedState) throws(ServerError) -> KeptRoles.Facts {
        let current = state.snapshot.header.version
        var written: [Int: UTCTime] = [:]
        var named: [Int: [String: Int]] = [:]
        for version in listing.versions(of: "snapshot") where version <= current {
            let file = TreePath.File.role("snapshot", version: version)
            written[version] = listing.files[file]?.modified
            // Devices request nothing more of a retired channel.
            named[version] = try snapshot(version).files.filter { !state.targets.hasRetired($0.key.text) }
                .reduce(into: [:]) { $0[$1.key.text] = $1.value.version }
        }
        let history = SnapshotHistory(
            files: written,
            current: (current, state.timestamp.header.version),
            timestampWritten: listing.files[.timestamp]?.modified ?? clock,
            signedAt: state.timestamp.signedAt,
            clock: clock
        )
        var last = try repository.labels().dropped
        for (channel, published) in state.channels { last[channel] = published.role.header.version }
        return KeptRoles.Facts(
            listing: listing,
            history: history,
            currentSnapshot: current,
            snapshots: named,
            lastVersions: last
        )
    }

    private func snapshot(_ version: Int) throws(ServerError) -> SnapshotRole {
        let bytes = try tree.read(.role("snapshot", version: version), limit: Limits.snapshot)
        do throws(FormatError) {
            return try SnapshotRole(try Envelope(bytes, role: "snapshot", limit: Limits.snapshot))
        } catch { throw .tree(app, .malformed(error)) }
    }

    private func needs(
        of kept: KeptRoles,
        published last: [ChannelName: Int],
        dial: Int
    ) throws(ServerError) -> RoleContents {
        var reader = ContentsReader(tree)
        var needs = RoleContents()
        for version in kept.dials where version <= dial {
            if let role = try tree.storedRole("dial", version: version) { needs.merge(try reader.targets(of: role)) }
        }
        for (channel, versions) in kept.channels {
            // A higher version was never published: a retry uploads all files that it needs.
            for version in versions.sorted() where version <= last[channel] ?? 0 {
                guard let role = try tree.storedRole(channel.text, version: version) else { continue }
                needs.merge(try reader.contents(of: role, channel: channel))
            }
        }
        return needs
    }

    /// The pins, with the files that publishable drafts add and need.
    private func pinnedByDrafts(_ state: PublishedState) throws(ServerError) -> GarbagePins {
        let reader = ContentsReader(tree)
        var pinned = pins
        for draft in try drafts(state) where draft.version > state.version(of: draft.channel) {
            pinned.objects.formUnion(reader.objects(of: draft))
        }
        return pinned
    }

    private func lateDrafts(_ state: PublishedState) throws(ServerError) -> [GarbagePlan.Item] {
        var late: [GarbagePlan.Item] = []
        for draft in try drafts(state) where draft.version <= state.version(of: draft.channel) {
            late.append(
                GarbagePlan.Item(
                    place: .draft(draft.channel, version: draft.version),
                    path: "drafts/\(app)/\(draft.channel)/\(draft.version)",
                    size: try size(of: draft)
                )
            )
        }
        return late
    }

    private func drafts(_ state: PublishedState) throws(ServerError) -> [Draft] {
        var found: [Draft] = []
        for delegation in state.targets.delegations {
            if let channel = ChannelName(delegation.name) { found += try tree.drafts(of: channel) }
        }
        return found
    }

    private func size(of draft: Draft) throws(ServerError) -> Int {
        var size = draft.release.targets.values.reduce(0) { $0 + $1.count }
        do throws(FileError) {
            for path in draft.release.objects.values { size += try tree.files.status(of: path)?.identity.size ?? 0 }
        } catch { throw .file(error) }
        return size
    }
}
