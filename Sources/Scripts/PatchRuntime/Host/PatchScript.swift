/// A script patch with its content from the store.
public struct PatchScript: Equatable, Sendable {
    public enum Content: Equatable, Sendable {
        case bytes([UInt8])
        case missing
        /// The stored file differs from the signed one.
        case altered
    }

    public let id: String
    public let version: String
    public let content: Content

    public init(id: String, version: String, content: Content) {
        self.id = id
        self.version = version
        self.content = content
    }

    public init(id: String, version: String, _ text: String) {
        self.init(id: id, version: version, content: .bytes(Array(text.utf8)))
    }
}

/// The state of a patch in a host.
///
/// Names and raw values are those of the first sample of this field.
public enum PatchScriptState: String, Sendable, CaseIterable {
    /// The patch failed: its text is not valid, or it threw an error.
    case unusable = "UnKnownError"
    /// The patch was not evaluated yet, or was withdrawn.
    case waiting = "UnInstall"
    /// The patch was evaluated without an error.
    case installed = "Success"
    case fileMissing = "FileNotExist"
    case fileAltered = "FileNotMatch"
}

/// The states of a host's patches, in their order.
public struct PatchReport: Equatable, Sendable {
    public struct Row: Equatable, Sendable {
        public let id: String
        public let version: String
        public let state: PatchScriptState
        /// Why it does not run, or its last failure while it ran.
        public let failure: PatchFailure?
    }

    public let rows: [Row]

    public subscript(id: String) -> Row? { rows.first { $0.id == id } }
}

/// One line of a patch's console output.
public struct PatchLogLine: Equatable, Sendable {
    public enum Level: String, Sendable, CaseIterable { case log, info, warn, error, debug }

    public let level: Level
    public let text: String
    /// The patch, or nil if unknown, as it is after an `await`.
    public let patch: String?
}
