/// A script patch as the store has it.
public struct PatchScript: Equatable, Sendable {
    public enum Content: Equatable, Sendable {
        case bytes([UInt8])
        case missing
        /// What lies there is not what was signed.
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

/// The state of a patch in a host; names and raw values are those of the first sample of this field.
public enum PatchScriptState: String, Sendable, CaseIterable {
    /// It failed: no text, no program, or it threw.
    case unusable = "UnKnownError"
    /// Its turn has not come.
    case waiting = "UnInstall"
    /// It was evaluated without an error.
    case installed = "Success"
    case fileMissing = "FileNotExist"
    case fileAltered = "FileNotMatch"
}

/// What became of the patches of a host, in their order.
public struct PatchReport: Equatable, Sendable {
    public struct Row: Equatable, Sendable {
        public let id: String
        public let version: String
        public let state: PatchScriptState
        /// Why it does not run, or what went wrong last while it did.
        public let failure: PatchFailure?
    }

    public let rows: [Row]

    public subscript(id: String) -> Row? { rows.first { $0.id == id } }
}

/// One line that a patch told its console.
public struct PatchLogLine: Equatable, Sendable {
    public enum Level: String, Sendable, CaseIterable { case log, info, warn, error, debug }

    public let level: Level
    public let text: String
    /// The patch, where it is known: behind an `await` it is not.
    public let patch: String?
}
