import Logging
import PatchChoice
import PatchFormat
import PatchSync

/// The app's view of an event: its kind, its text and its log level.
extension DeviceEvent {
    /// The event's number on the platforms of this field (feature J15).
    package var type: PatchlineApp.PatchEvent.Kind {
        switch self {
        case .script: .runScript
        case .update, .awaiting: .update
        case .updateDone, .withdrawn: .updateDone
        case .rolledBack, .unproven, .synced(.failure), .failed, .noRoom: .updateFail
        case .damaged, .scriptsLeftOut, .stalePage, .bundleMissing, .stateFault, .trouble, .parametersTrouble,
            .fileTrouble,
            .portTaken, .differs, .storeFailed:
            .exception
        case .scriptFailed: .scriptException
        case .asked(let asked):
            switch asked.question {
            case .share: .gray
            case .condition: .condition
            }
        case .nothingInstalled, .serving, .following, .confirmed, .superseded, .parametersChanged, .syncing,
            .synced(.success),
            .approved, .postponed, .postponementEnded, .made, .follows, .removed, .listening, .proxyLine:
            .unknown
        }
    }

    /// Whether the event may need action by a person.
    package var isTrouble: Bool {
        switch type {
        case .updateFail, .exception, .scriptException: true
        case .unknown, .runScript, .update, .updateDone, .condition, .gray: false
        }
    }

    /// The event as a sentence for a log.
    ///
    /// It contains no token and no data of the device's user.
    package var text: String {
        switch self {
        // The failures of a sync are separate events.
        case .synced(.success(let report)): PatchlineApp.Event.synced(isNew: report.isNew).description
        case .failed(let failure): "\(failure.patchID) \(failure.version) failed: \(failure.error)"
        case .update(let label): "\(label) is listed for this device"
        case .updateDone(let label): "\(label) is downloaded"
        case .script(let label): "\(label) is active"
        case .awaiting(let version): "\(version.label) waits for approval"
        case .approved(let label): "\(label) was approved"
        case .postponed(let until): "new versions were postponed until \(until)"
        case .postponementEnded: "the pending version may start again"
        case .asked(let asked):
            switch (asked.question, asked.isHit) {
            case (.share(let share), true):
                "\(asked.label) is for \(Words.percent(share)) of the devices, this one among them"
            case (.share(let share), false):
                "\(asked.label) is for \(Words.percent(share)) of the devices, this one not among them"
            case (.condition, true): "\(asked.label) has a condition, which this device meets"
            case (.condition, false): "\(asked.label) has a condition, which this device does not meet"
            }
        case .nothingInstalled, .serving, .following, .withdrawn, .damaged, .confirmed, .rolledBack, .scriptFailed,
            .scriptsLeftOut, .stalePage, .unproven, .superseded, .bundleMissing, .stateFault, .parametersChanged,
            .trouble, .synced(.failure), .parametersTrouble, .fileTrouble:
            PatchlineApp.Event(self)?.description ?? ""
        // These events are not part of any log.
        case .syncing, .portTaken, .noRoom, .made, .differs, .follows, .removed, .listening, .proxyLine, .storeFailed:
            ""
        }
    }

    /// The event's log level.
    var level: Logger.Level {
        if case .failed = self { .warning } else { PatchlineApp.Event(self)?.level ?? .info }
    }
}
