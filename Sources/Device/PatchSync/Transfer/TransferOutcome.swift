import PatchChoice
import PatchFetch
import PatchFormat

/// The transfers of one sync by version, which ``TransferFailures`` counts.
struct TransferOutcome {
    private(set) var arrived: Set<PatchContent> = []
    /// The chosen versions that could not be downloaded, with the cause, or nil for a cause on this device.
    private(set) var failed: [PatchContent: (version: VersionLabel, cause: TransferFailures.Cause?)] = [:]
    /// Versions of which some bytes were received and stay.
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

    /// Records a network failure for all patches that are not decided when the sync ends.
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
    /// Nil for causes on this device: the disk, the lock, a cancellation.
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
