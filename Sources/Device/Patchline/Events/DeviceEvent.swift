import AssetServer
import Logging
package import PatchChoice
package import PatchFormat
package import PatchSync

/// What happened on a device, and what that is for a patch.
package struct DeviceEvent: Sendable {
    package enum What: Sendable {
        /// Of the app, or of a sync as a whole.
        case told(LocalServer.Event)
        /// A patch of a sync.
        case failed(PatchFailure)
        /// A version is listed for this device that it does not have.
        case update(Label)
        /// It is downloaded.
        case updateDone(Label)
        /// A script is part of what runs from now on.
        case script(Label)
        case asked(AskedRule)
        /// It would be here, were it approved of.
        case awaiting(AwaitedVersion)
        case approved(Label)
        /// Nothing new starts before this time.
        case postponed(until: UTCTime)
        case postponementEnded
    }

    package let type: PatchEventType
    package let what: What

    init(_ type: PatchEventType, _ what: What) {
        (self.type, self.what) = (type, what)
    }

    /// Whether something was taken back.
    package var isRollback: Bool {
        switch what {
        case .told(.app(.rolledBack)), .told(.app(.withdrawn)): true
        default: false
        }
    }

    /// Why a selection was taken back.
    package var setback: Setback? {
        if case .told(.app(.rolledBack(_, _, let setback))) = what { setback } else { nil }
    }

    /// The version that it is about, where it is about one.
    package var label: Label? {
        switch what {
        case .told(.app(.scriptFailed(let failure))): failure.label
        case .told: nil
        case .failed(let failure): Label(patchID: failure.patchID, version: failure.version)
        case .update(let label), .updateDone(let label), .script(let label), .approved(let label): label
        case .asked(let asked): asked.label
        case .awaiting(let version): version.label
        case .postponed, .postponementEnded: nil
        }
    }

    /// A sentence for a log, as an app's logger gets it: no token, and nothing of who uses the device.
    package var text: String {
        switch what {
        // What failed in it is told apart.
        case .told(.synced(.success(let report))): PatchlineApp.Event.synced(isNew: report.isNew).description
        case .told(let event): PatchlineApp.Event(event)?.description ?? ""
        case .failed(let failure): "\(failure.patchID) \(failure.version) failed: \(failure.error)"
        case .update(let label): "\(label) is listed for this device"
        case .updateDone(let label): "\(label) is downloaded"
        case .script(let label): "\(label) is part of what runs"
        case .awaiting(let version): "\(version.label) waits for approval"
        case .approved(let label): "\(label) was approved"
        case .postponed(let until): "what is new was postponed until \(until)"
        case .postponementEnded: "what waits may start again"
        case .asked(let asked):
            switch (asked.question, asked.isHit) {
            case (.share(let share), true):
                "\(asked.label) is for \(Words.percent(share)) of the devices, this one among them"
            case (.share(let share), false):
                "\(asked.label) is for \(Words.percent(share)) of the devices, this one not among them"
            case (.condition, true): "\(asked.label) has a condition, which this device meets"
            case (.condition, false): "\(asked.label) has a condition, which this device does not meet"
            }
        }
    }

    /// The level for a log.
    var level: Logger.Level {
        switch what {
        case .told(let event): PatchlineApp.Event(event)?.level ?? .info
        case .failed: .warning
        case .update, .updateDone, .script, .asked, .awaiting, .approved, .postponed, .postponementEnded: .info
        }
    }

    /// Whether an app's logger has heard it already.
    var isTold: Bool {
        if case .told = what { true } else { false }
    }
}
