import PatchChoice
import PatchFormat
import PatchSync

extension PatchlineApp {
    /// An event of a patch, numbered as on the platforms of this field.
    ///
    /// See ``Settings/patchEvents``.
    public struct PatchEvent: Equatable, Sendable {
        public enum Kind: Int, CaseIterable, Sendable {
            /// An event that is not about a patch.
            case unknown = 0
            /// A script is part of the running selection from now on.
            case runScript = 1
            /// A version is listed for this device and not installed.
            case update = 2
            /// A version is downloaded and pending. If ``PatchEvent/isRollback`` is true, the active version was withdrawn.
            case updateDone = 3
            /// The device evaluated a condition.
            case condition = 4
            /// The device compared itself with a share.
            case gray = 5
            /// A version was not downloaded or installed, or did not pass its trial.
            case updateFail = 6
            /// The device has a problem.
            case exception = 7
            /// A script failed while it ran.
            case scriptException = 8
        }

        public let kind: Kind
        /// The version, or nil if the event is not about a single version.
        public let version: PatchlineStore.Version?
        /// Whether the condition or share includes this device; nil for other events.
        public let isHit: Bool?
        /// The share, out of 10,000 devices; nil for other events.
        public let share: Int?
        public let condition: String?
        /// Whether a version was rolled back or withdrawn.
        public let isRollback: Bool
        /// The event as a sentence, as the logger receives it.
        public let text: String
    }
}

extension PatchlineApp.PatchEvent {
    init(_ event: DeviceEvent) {
        kind = event.type
        version = event.label.map { PatchlineStore.Version($0) }
        (isRollback, text) = (event.isRollback, event.text)
        guard case .asked(let asked) = event else {
            (isHit, share, condition) = (nil, nil, nil)
            return
        }
        isHit = asked.isHit
        switch asked.question {
        case .share(let devices): (share, condition) = (devices, nil)
        case .condition(let text): (share, condition) = (nil, text)
        }
    }
}

extension PatchlineApp.PatchEvent.Kind {
    /// The kind's name on the platforms of this field.
    package var name: String {
        switch self {
        case .unknown: "Unknown"
        case .runScript: "RunScript"
        case .update: "Update"
        case .updateDone: "UpdateDone"
        case .condition: "Condition"
        case .gray: "Gray"
        case .updateFail: "UpdateFail"
        case .exception: "Exception"
        case .scriptException: "JSException"
        }
    }
}
