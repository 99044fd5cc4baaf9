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
    /// A patch is in this state now.
    case state(PatchID, VersionLabel, PatchState, fault: String?)
    /// The files that will be downloaded.
    case downloading(files: Int, bytes: Int)
    /// This many more bytes came.
    case received(bytes: Int)
    case fileDone(String)
    /// A server's compressed form of this file was wrong: the file itself is asked for.
    case askedPlain(String, because: SyncError)
    /// A pack for this bundle begins to come, or goes on: so many of its bytes are left.
    case packBegan(Label, bytes: Int)
    /// A bundle came by a pack from a version that was here.
    case byPack(PackUse)
    /// A pack for this bundle did not come, or was not right: the bundle comes as it does without one.
    case packRefused(Label, because: SyncError)
    /// What this server had for a refresh in one answer was of no use: its files are asked for one by one.
    case expressIgnored(server: String, because: SyncError)
    case failed(PatchFailure)
    /// Somebody who asked for this sync approved of these.
    case approved([Label])
    /// A version waits for a network on which bytes cost nothing.
    case putOff(PutOffVersion)
    /// The network failed; the next try comes after this time, or as soon as the network changes.
    case waiting(Duration, because: SyncError)
    case networkChanged
    /// A newer list is there: the download of the older one stops, and its files stay.
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

/// A version that a sync leaves for a network on which bytes cost nothing.
package struct PutOffVersion: Equatable, Sendable {
    package let content: PatchContent
    package let version: VersionLabel
    /// Of its own transfer.
    package let size: WireSize
    package let wait: MeteredWait

    package init(content: PatchContent, version: VersionLabel, size: WireSize, wait: MeteredWait) {
        (self.content, self.version, self.size, self.wait) = (content, version, size, wait)
    }

    package var label: Label { Label(patchID: content.patchID, version: version) }
}

/// What a pack from a base saved, or two in a row.
package struct PackUse: Equatable, Sendable {
    package let label: Label
    /// The version that it was applied to.
    package let base: VersionLabel
    /// What the first of two packs made; nil of one that leads to the bundle itself.
    package let through: VersionLabel?
    /// Of the packs and of the signatures beside them.
    package let bytes: Int
    /// What would have travelled without it, about.
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
    /// Objects, manifests and columns that travelled.
    package let filesReceived: Int
    /// Of these, as they are stored.
    package let bytesReceived: Int
    /// Of these and of what was given up, as they travelled.
    package var bytesTransferred = 0
    /// Signatures of bundles' entries that no installed version vouched for.
    package var checkedSignatures = 0
    /// Bundles that came by a pack from a version that was here.
    package var packs: [PackUse] = []
    /// Versions that wait for a network on which bytes cost nothing.
    package var putOff: [PutOffVersion] = []
    /// Versions that do not fit on the disk.
    package var noRoom: [NoRoomVersion] = []
    /// Versions that wait for somebody's approval, of each patch the newest.
    package var awaiting: [AwaitedVersion] = []
    /// Patches whose files were healed.
    package let healed: [Label]
    package let staging: SelectionMachine.Staging
    /// When the staged selection may start.
    package let activates: ActivationTime
    /// The server's metadata was older than what this device knows.
    package let staleMirror: StaleMirror?
    /// The embedded role version that this device runs, if the list is not above it: nothing was taken.
    package let keptEmbedded: Int?
    /// Servers that failed, were behind, or lied.
    package let mirrors: [MirrorFault]
    /// Why a question to the server got no answer; no version with a head-count was then newly taken.
    package let unanswered: SyncError?
    /// Server answers that were not followed.
    package let ignoredAnswers: [IgnoredAnswer]
    package var parameters = ParametersUpdate.unchanged
    /// The states that each patch went through.
    package var states: [PatchStates] = []
    /// Shares and conditions that this device was asked about.
    package var asked: [AskedRule] = []
    /// Why this device's state was not that of `state.json` when the sync began.
    package var stateFault: StateFault?

    /// Labels that are listed with other bytes than the installed ones: refused.
    package var republished: [Label] {
        decisions.flatMap { decision in
            decision.passedOver.filter { $0.why == .republished }.map {
                Label(patchID: decision.patchID, version: $0.version)
            }
        }
    }

    /// Whether every patch is as the list wants it.
    package var isComplete: Bool {
        if case .refused = staging { return false }
        return refused.isEmpty && failures.isEmpty && republished.isEmpty
    }
}

/// The states that a patch went through in a sync.
package struct PatchStates: Equatable, Sendable {
    package let patchID: PatchID
    package let version: VersionLabel
    package private(set) var states: [PatchState]
    package private(set) var fault: String?
    /// Of a script that is as it should be: the file that holds it.
    package private(set) var file: FilePath?
}

extension [PatchStates] {
    /// In the order in which a sync comes to them.
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
