package import PatchChoice
import PatchFetch
package import PatchFormat
package import PatchTrust
package import SystemPackage

/// The events of a running sync.
package enum SyncEvent: Equatable, Sendable {
    /// The channel's role and list are verified.
    case verified(roleVersion: Int, entries: Int)
    case refused(RefusedEntry)
    /// The present state of a patch.
    case state(PatchID, VersionLabel, PatchState, fault: String?)
    /// The files to download.
    case downloading(files: Int, bytes: Int)
    /// This many more bytes were received.
    case received(bytes: Int)
    case fileDone(String)
    /// A server's compressed form of this file was wrong, so the plain file is requested.
    case plainRequested(String, because: SyncError)
    /// The download of a pack for this bundle begins or resumes, with the number of remaining bytes.
    case packBegan(Label, bytes: Int)
    /// A bundle was downloaded as a pack from a stored version.
    case byPack(PackUse)
    /// A pack for this bundle failed or was wrong, so the bundle is downloaded without it.
    case packRefused(Label, because: SyncError)
    /// This server's express answer was not usable, so its metadata files are requested one by one.
    case expressIgnored(server: String, because: SyncError)
    case failed(PatchFailure)
    /// The person who requested this sync approved these versions.
    case approved([Label])
    /// A version waits for an unmetered network.
    case putOff(DeferredVersion)
    /// The network failed. The next try is after this time, or as soon as the network changes.
    case waiting(Duration, because: SyncError)
    case networkChanged
    /// A newer list exists. The download of the older one stops, and its files stay on disk.
    case newerList(roleVersion: Int)
}

/// A patch that stays at its version, and why.
package struct PatchFailure: Error, Equatable, Sendable {
    package let patchID: PatchID
    package let version: VersionLabel
    package let error: SyncError

    package init(patchID: PatchID, version: VersionLabel, error: SyncError) {
        self.patchID = patchID
        self.version = version
        self.error = error
    }
}

/// A version that a sync defers to an unmetered network.
package struct DeferredVersion: Equatable, Sendable {
    package let content: PatchContent
    package let version: VersionLabel
    /// The size of the version's own download.
    package let size: WireSize
    package let wait: MeteredWait

    package init(content: PatchContent, version: VersionLabel, size: WireSize, wait: MeteredWait) {
        (self.content, self.version, self.size, self.wait) = (content, version, size, wait)
    }

    package var label: Label { Label(patchID: content.patchID, version: version) }
}

/// The use of one pack, or of two packs in a row, and its savings.
package struct PackUse: Equatable, Sendable {
    package let label: Label
    /// The version that the pack was applied to.
    package let base: VersionLabel
    /// The intermediate version if there were two packs, or nil if one pack led to the bundle.
    package let through: VersionLabel?
    /// The bytes of the packs and of the signatures sent with them.
    package let bytes: Int
    /// The estimated bytes of a download without the pack.
    package let estimate: Int

    package init(label: Label, base: VersionLabel, through: VersionLabel? = nil, bytes: Int, estimate: Int) {
        (self.label, self.base, self.through, self.bytes, self.estimate) = (label, base, through, bytes, estimate)
    }
}

/// The outcome of a sync.
package struct SyncReport: Equatable, Sendable {
    package let roleVersion: Int
    package let decisions: [Decision]
    package let refused: [RefusedEntry]
    package let failures: [PatchFailure]
    /// The number of downloaded objects, manifests and columns.
    package let filesReceived: Int
    /// The bytes of these files as stored.
    package let bytesReceived: Int
    /// The bytes of these files and of abandoned downloads, as transferred.
    package var bytesTransferred = 0
    /// The number of bundle entry signatures that no installed version had checked before.
    package var checkedSignatures = 0
    /// Bundles that were downloaded as packs from a stored version.
    package var packs: [PackUse] = []
    /// Versions that wait for an unmetered network.
    package var putOff: [DeferredVersion] = []
    /// Versions that do not fit on the disk.
    package var noRoom: [OversizedVersion] = []
    /// Versions that wait for approval: the newest one of each patch.
    package var awaiting: [AwaitedVersion] = []
    /// Patches whose files were repaired.
    package let healed: [Label]
    package let staging: SelectionMachine.Staging
    /// When the staged selection may start.
    package let activates: ActivationTime
    /// Set if the server's metadata was older than the metadata known here.
    package let staleMirror: StaleMirror?
    /// The embedded role version that this device runs, if the list is not newer, so that it was not used.
    package let keptEmbedded: Int?
    /// Servers that failed, were behind, or sent wrong data.
    package let mirrors: [MirrorFault]
    /// Why a question to the server was not answered.
    ///
    /// New versions that limit their number of devices were then not installed.
    package let unanswered: SyncError?
    /// Server answers that were ignored.
    package let ignoredAnswers: [IgnoredAnswer]
    package var parameters = ParametersUpdate.unchanged
    /// The sequence of states of each patch.
    package var states: [PatchStates] = []
    /// The shares and conditions that were evaluated for this device.
    package var asked: [EvaluatedRule] = []
    /// Why this device's state was not read from `state.json` when the sync began.
    package var stateFault: StateFault?

    /// Labels that are listed with other bytes than the installed ones, and therefore rejected.
    package var republished: [Label] {
        decisions.flatMap { decision in
            decision.passedOver.filter { $0.why == .republished }.map {
                Label(patchID: decision.patchID, version: $0.version)
            }
        }
    }

    /// Whether every patch is as the list requires.
    package var isComplete: Bool {
        if case .refused = staging { return false }
        return refused.isEmpty && failures.isEmpty && republished.isEmpty
    }
}

/// The sequence of states of a patch in a sync.
package struct PatchStates: Equatable, Sendable {
    package let patchID: PatchID
    package let version: VersionLabel
    package private(set) var states: [PatchState]
    package private(set) var fault: String?
    /// The file of an intact script.
    package private(set) var file: FilePath?
}

extension [PatchStates] {
    /// Adds an event.
    ///
    /// The patches stay in the order of their first event.
    package mutating func take(_ event: SyncEvent) {
        guard case .state(let id, let version, let state, let fault) = event else { return }
        if let index = firstIndex(where: { $0.patchID == id }) {
            self[index].take(state, fault)
        } else {
            append(PatchStates(patchID: id, version: version, states: [state], fault: fault))
        }
    }
}

extension PatchStates {
    fileprivate mutating func take(_ state: PatchState, _ fault: String?) {
        if states.last != state { states.append(state) }
        self.fault = self.fault ?? fault
    }

    func with(_ file: FilePath?) -> PatchStates {
        var patch = self
        patch.file = file
        return patch
    }
}
