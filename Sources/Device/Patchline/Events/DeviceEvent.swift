package import AssetServer
package import PatchChoice
package import PatchFormat
package import PatchSync

/// An event on a device: from its running app, its syncs, its owner's decisions, or its store in the daemon.
///
/// Every part of the device reports these values. Every program prints some of them under ``name``. ``DeviceEvents`` adds the
/// events that follow from several others.
package enum DeviceEvent: Sendable {
    // MARK: The running app

    case nothingInstalled
    case serving(Selection, trial: LaunchToken?)
    /// Another process chose another channel.
    case following(ChannelName)
    /// This launch removed these patches, because they were withdrawn.
    case withdrawn([PatchID])
    /// Damaged files. They are not served until a sync heals them.
    case damaged([String])
    case confirmed(Selection)
    /// - Parameter because: Nil if no version of `from` is blocked.
    case rolledBack(to: Selection?, from: Selection, because: Setback?)
    /// A script failed in a page, or a page did not load it.
    case scriptFailed(ScriptFailure)
    /// A page was served without its scripts.
    case scriptsLeftOut(page: String, PagePlan.Reason)
    /// A page of another version stays on the screen after its reloads.
    ///
    /// - Parameter version: The page's version, if known.
    case stalePage(version: String?)
    /// The version was not confirmed in time. It stays, because there is no other.
    case unproven(Selection)
    /// A sync chose another selection before the trial was decided. The version was neither confirmed nor did it fail.
    case superseded(Selection, by: Selection)
    /// The running selection does not contain the bundle to serve.
    case bundleMissing(PatchID, there: [PatchID])
    /// `state.json` cannot be read. The fault names the state used instead.
    case stateFault(StateFault)
    /// The operator changed the channel's online parameters.
    case parametersChanged(OnlineParameters)
    /// State could not be read or written. The served selection stays.
    case trouble(SyncError)

    // MARK: Its server and syncs

    /// A step of a running sync.
    case syncing(SyncEvent)
    case synced(Result<SyncReport, SyncError>)
    /// The last good online parameters stay in effect. Reported once for each fault.
    case parametersTrouble(SyncError)
    case portTaken(Int, next: Int)
    /// An invalid file, or refused or dropped connections, in one escaped line.
    case fileTrouble(String)

    // MARK: A patch

    /// A version is listed for this device and not installed.
    case update(Label)
    /// A version's download is complete.
    case updateDone(Label)
    case failed(PatchFailure)
    case noRoom(OversizedVersion)
    /// A script is part of the running selection from now on.
    case script(Label)
    case asked(EvaluatedRule)
    /// A version waits for approval.
    case awaiting(AwaitedVersion)

    // MARK: The owner's decisions

    case approved(Label)
    /// New versions do not start before this time.
    case postponed(until: UTCTime)
    case postponementEnded

    // MARK: The store in the daemon

    /// The store was created.
    case made
    /// The store belongs to another app or root of trust, in words. It is not changed.
    case differs([String])
    /// The store uses changed settings of the file from now on, in words.
    case follows([String])
    /// The store's folder was removed.
    case removed
    case listening(PagesAddress)
    /// A log line of the proxy.
    case proxyLine(String)
    /// The store cannot be launched or changed. The daemon tries again.
    case storeFailed(Failure)
}

extension DeviceEvent {
    /// Whether a version was rolled back or withdrawn.
    package var isRollback: Bool {
        switch self {
        case .rolledBack, .withdrawn: true
        default: false
        }
    }

    /// Whether the app may run another selection from now on.
    package var changesRunningVersion: Bool {
        switch self {
        case .serving, .withdrawn, .rolledBack: true
        case .nothingInstalled, .following, .damaged, .confirmed, .scriptFailed, .scriptsLeftOut, .stalePage, .unproven,
            .superseded, .bundleMissing, .stateFault, .parametersChanged, .trouble:
            false
        case .syncing, .synced, .parametersTrouble, .portTaken, .fileTrouble: false
        case .update, .updateDone, .failed, .noRoom, .script, .asked, .awaiting: false
        case .approved, .postponed, .postponementEnded: false
        case .made, .differs, .follows, .removed, .listening, .proxyLine, .storeFailed: false
        }
    }

    /// Why a selection was rolled back.
    package var setback: Setback? {
        if case .rolledBack(_, _, let setback) = self { setback } else { nil }
    }

    /// The version of an event about a single version.
    package var label: Label? {
        switch self {
        case .scriptFailed(let failure): failure.label
        case .failed(let failure): Label(patchID: failure.patchID, version: failure.version)
        case .noRoom(let version): version.label
        case .update(let label), .updateDone(let label), .script(let label), .approved(let label): label
        case .asked(let asked): asked.label
        case .awaiting(let version): version.label
        default: nil
        }
    }

    /// The sentence of ``superseded(_:by:)``.
    ///
    /// - Parameter next: The versions in its place, or nil if it was removed without a replacement.
    package static func words(ofSuperseded version: String, by next: String?) -> String {
        "the trial of \(version) ended without a result: the latest sync \(next.map { "chose \($0)" } ?? "removed it")"
    }

    /// The sentence of ``stalePage(version:)``.
    package static func words(ofStalePage version: String?) -> String {
        "a page of \(version ?? "another version") stays on the screen: a service worker or another cache keeps it"
    }
}

extension SyncReport {
    /// An event for each version that was not installed.
    package var troubles: [DeviceEvent] {
        noRoom.map { .noRoom($0) }
            + failures.filter { if case .noRoom = $0.error { false } else { true } }.map { .failed($0) }
    }
}
