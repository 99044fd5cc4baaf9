import PatchChoice
import PatchFormat
import PatchSync

extension PatchlineApp {
    /// What happened to a patch, as the platforms of this field number it: ``Settings/patchEvents``.
    public struct PatchEvent: Equatable, Sendable {
        public enum Kind: Int, CaseIterable, Sendable {
            /// Of no patch.
            case unknown = 0
            /// A script is part of what runs from now on.
            case runScript = 1
            /// A version is listed for this device that it does not have.
            case update = 2
            /// It is here and waits for its start; or, with ``PatchEvent/isRollback``, a list took what runs back.
            case updateDone = 3
            /// A condition was asked.
            case condition = 4
            /// A share was asked.
            case gray = 5
            /// A version did not come, or did not prove itself.
            case updateFail = 6
            /// Something is wrong with this device.
            case exception = 7
            /// A script failed while it ran: the app knows, which runs it.
            case scriptException = 8
        }

        public let kind: Kind
        /// Nil where it is about no single version.
        public let version: PatchlineStore.Version?
        /// Whether the version is for this device, of a question.
        public let isHit: Bool?
        /// Of 10,000 devices, of a question for the share.
        public let share: Int?
        public let condition: String?
        /// Whether something was taken back.
        public let isRollback: Bool
        /// A sentence, as the logger gets it.
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
    /// The name on the platforms of this field.
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
