import PatchChoice
import PatchFetch
import PatchFormat

/// How the transfers of one sync went, by version: what ``TransferFailures`` counts.
struct TransferOutcome {
    private(set) var arrived: Set<PatchContent> = []
    /// Why what was chosen did not come; without a cause it was nobody's fault out there.
    private(set) var failed: [PatchContent: (version: VersionLabel, cause: TransferFailures.Cause?)] = [:]
    /// Some of it came and stays.
    private(set) var moved: Set<PatchContent> = []

    var notReceived: Set<PatchContent> { Set(failed.keys) }

    mutating func arrive(_ patch: InstalledPatch) {
        arrived.insert(patch.content)
    }

    mutating func move(_ patch: InstalledPatch) {
        moved.insert(patch.content)
    }

    mutating func fail(_ patch: InstalledPatch, because cause: TransferFailures.Cause?) {
        failed[patch.content] = (patch.version, cause)
    }

    /// The sync ends before these were decided.
    mutating func breakOff(_ patches: [InstalledPatch]) {
        for patch in patches where !arrived.contains(patch.content) && failed[patch.content] == nil {
            fail(patch, because: .network)
        }
    }

    func record(in failures: inout TransferFailures, at time: UTCTime) {
        for content in arrived { failures.succeed(content) }
        for (content, failure) in failed {
            guard let cause = failure.cause else { continue }
            failures.fail(
                content,
                version: failure.version,
                because: cause,
                movedForward: moved.contains(content),
                at: time
            )
        }
    }
}

extension SyncError {
    /// Nil for what is nobody's fault out there: the disk, the lock, a person who ended it.
    var transferCause: TransferFailures.Cause? {
        switch self {
        case .fetch(.cancelled), .fetch(.notTaken): nil
        case .fetch(let error): error.isNetwork ? .network : .content
        case .trust, .format, .object, .pack: .content
        case .file, .lock, .noStore, .storeIncomplete, .storeExists, .rootNamesNoApp, .nothingPending,
            .nothingToRollBackTo, .nothingInstalled, .noRoom, .incompatible, .blacklisted, .waitsForLaunch, .heldBack,
            .embedded,
            .otherAppBuild, .trialRunning, .waitsForTrial, .notKept, .unreadable:
            nil
        }
    }
}
