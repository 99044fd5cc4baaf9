package import PatchChoice
package import PatchFormat
package import PatchTrust

/// What a sync would fetch, and what that would cost.
package struct SyncForecast: Equatable, Sendable {
    /// One patch of what a sync would stage, or make whole again.
    package struct Row: Equatable, Sendable {
        package let patchID: PatchID
        package let kind: PatchKind
        package let version: VersionLabel
        /// The device's version of this id.
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
        /// The version is new here.
        case take
        /// Files of it are missing or wrong.
        case heal
        case keep
        /// It is listed, and waits for a network on which bytes cost nothing.
        case putOff
    }

    package let roleVersion: Int
    package let decisions: [Decision]
    package let refused: [RefusedEntry]
    package let staleMirror: StaleMirror?
    package let keptEmbedded: Int?
    package let mirrors: [MirrorFault]
    package let ignoredAnswers: [IgnoredAnswer]
    /// Whether a sync would ask the server for a place or for a choice, which may be another.
    package let isUnasked: Bool
    /// A trial runs: nothing new is taken before it ends.
    package let isTrial: Bool
    /// Bytes of metadata that came for this look.
    package let metadata: Int
    package let rows: [Row]
    /// Versions that a sync would leave for a network on which bytes cost nothing.
    package var putOff: [PutOffVersion] = []
    /// Versions that a sync would refuse, because they do not fit on the disk.
    package var noRoom: [NoRoomVersion] = []

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

    private var coming: [Row] { rows.filter { $0.task != .putOff } }

    /// Of all that would come.
    package var size: WireSize { coming.reduce(.nothing) { $0 + $1.cost.size } }

    /// Bytes that would stay away because something is here, of the rows that say so.
    package var saved: Int { coming.compactMap(\.cost.saved).reduce(0, +) }
}
