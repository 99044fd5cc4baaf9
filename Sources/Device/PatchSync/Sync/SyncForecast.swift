package import PatchChoice
package import PatchFormat
package import PatchTrust

/// The downloads of a sync and their cost.
package struct SyncForecast: Equatable, Sendable {
    /// One patch that a sync would stage or repair.
    package struct Row: Equatable, Sendable {
        package let patchID: PatchID
        package let kind: PatchKind
        package let version: VersionLabel
        /// The device's present version of this patch.
        package let current: VersionLabel?
        package let task: Task
        package let cost: TransferCost

        package init(
            patchID: PatchID,
            kind: PatchKind,
            version: VersionLabel,
            current: VersionLabel?,
            task: Task,
            cost: TransferCost
        ) {
            (self.patchID, self.kind, self.version) = (patchID, kind, version)
            (self.current, self.task, self.cost) = (current, task, cost)
        }
    }

    package enum Task: String, Sendable {
        /// The version is new on this device.
        case take
        /// Files of it are missing or damaged.
        case heal
        case keep
        /// It is listed, and waits for an unmetered network.
        case putOff
    }

    package let roleVersion: Int
    package let decisions: [Decision]
    package let refused: [RefusedEntry]
    package let staleMirror: StaleMirror?
    package let keptEmbedded: Int?
    package let mirrors: [MirrorFault]
    package let ignoredAnswers: [IgnoredAnswer]
    /// Whether a sync would ask the server for a place or an assignment, and could therefore choose differently.
    package let isUnasked: Bool
    /// Whether a trial is running.
    ///
    /// New versions are installed only after it ends.
    package let isTrial: Bool
    /// The bytes that were downloaded for this forecast: metadata, and the indexes of packs.
    package let metadata: Int
    package let rows: [Row]
    /// Versions that a sync would defer to an unmetered network.
    package var putOff: [DeferredVersion] = []
    /// Versions that a sync would not download, because they do not fit on the disk.
    package var noRoom: [OversizedVersion] = []

    package init(
        roleVersion: Int,
        decisions: [Decision],
        refused: [RefusedEntry],
        staleMirror: StaleMirror?,
        keptEmbedded: Int?,
        mirrors: [MirrorFault],
        ignoredAnswers: [IgnoredAnswer],
        isUnasked: Bool,
        isTrial: Bool,
        metadata: Int,
        rows: [Row]
    ) {
        (self.roleVersion, self.decisions, self.refused) = (roleVersion, decisions, refused)
        (self.staleMirror, self.keptEmbedded, self.mirrors) = (staleMirror, keptEmbedded, mirrors)
        (self.ignoredAnswers, self.isUnasked, self.isTrial) = (ignoredAnswers, isUnasked, isTrial)
        (self.metadata, self.rows) = (metadata, rows)
    }

    private var downloads: [Row] { rows.filter { $0.task != .putOff } }

    /// The size of all downloads.
    package var size: WireSize { downloads.reduce(.nothing) { $0 + $1.cost.size } }

    /// The bytes saved by files that are already stored, over the rows where they are known.
    package var saved: Int { downloads.compactMap(\.cost.saved).reduce(0, +) }
}
