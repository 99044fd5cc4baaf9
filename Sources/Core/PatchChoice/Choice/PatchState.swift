package import PatchFormat

/// The present state of a patch on this device.
///
/// Raw values and names are those of the first sample of this field.
package enum PatchState: Int, Sendable, CaseIterable {
    /// The bytes are stored but cannot be installed: a script that is not UTF-8, or an unreadable manifest.
    case unknownError = 0
    /// On disk, but not installed in this launch.
    case unInstall = 1
    /// Installed in this launch.
    case success = 2
    case fileNotExist = 3
    /// A digest or a signature differs from the listed one.
    case fileNotMatch = 4
    /// Listed with another digest or URL than the installed one.
    case update = 5
    /// New in the list.
    case add = 6

    /// The name for people.
    ///
    /// `UnKnownError` keeps the sample's spelling.
    package var name: String {
        switch self {
        case .unknownError: "UnKnownError"
        case .unInstall: "UnInstall"
        case .success: "Success"
        case .fileNotExist: "FileNotExist"
        case .fileNotMatch: "FileNotMatch"
        case .update: "Update"
        case .add: "Add"
        }
    }
}

extension PatchState {
    /// The state in plain words.
    package var meaning: String {
        switch self {
        case .unknownError: "unusable"
        case .unInstall: "downloaded, waits"
        case .success: "installed"
        case .fileNotExist: "file missing"
        case .fileNotMatch: "file altered"
        case .update: "other version listed"
        case .add: "new"
        }
    }
}

/// The files of one patch on disk.
package enum PatchOnDisk: Equatable, Sendable {
    case absent
    /// A file of it is missing: the script itself, a manifest, or the named asset.
    case missing(String)
    /// A file of it differs from the installed one in this digest.
    case damaged(String, field: String)
    /// The bytes are right, but no engine can read them.
    case unreadable(String)
    case intact

    /// The missing or wrong file, if any.
    package var fault: String? {
        switch self {
        case .absent, .intact: nil
        case .missing(let file): "\(file) is missing"
        case .damaged(let file, let field): "\(file): \(field) is not the listed one"
        case .unreadable(let file): "\(file) cannot be read"
        }
    }
}

/// Whether a patch takes part in the present launch.
package enum PatchInLaunch: Equatable, Sendable {
    /// It is not part of the active selection.
    case notRunning
    case running
}

extension PatchState {
    /// A pure function from the listed, stored and running versions to the state (features P2 to P5).
    ///
    /// - Parameters:
    ///   - wanted: The (sha256, url) that this device should have, from the list or, offline, from its selection.
    ///   - installed: The (sha256, url) that it has, or nil if the id is new to it.
    package init(
        wanted: ContentAddress,
        installed: ContentAddress?,
        onDisk: PatchOnDisk,
        launch: PatchInLaunch
    ) {
        switch onDisk {
        case .absent:
            switch installed {
            case nil: self = .add
            case let installed? where installed != wanted: self = .update
            case _?: self = .fileNotExist
            }
        case .missing: self = .fileNotExist
        case .damaged: self = .fileNotMatch
        case .unreadable: self = .unknownError
        case .intact:
            switch launch {
            case .running where installed == wanted: self = .success
            case .running, .notRunning: self = .unInstall
            }
        }
    }

    /// A pure function from the state to the work of a sync.
    ///
    /// Every missing or wrong file is downloaded (P6).
    package var work: PatchWork {
        switch self {
        case .success: .none
        case .unInstall: .install
        case .unknownError, .fileNotExist, .fileNotMatch, .update, .add: .download
        }
    }
}

extension PatchState {
    /// The state of a developer's own script, without list, store and network (P11, by P4's rule).
    ///
    /// - Parameter bytes: The bytes of the script, or nil if the file does not exist.
    package init(testScript bytes: [UInt8]?) {
        guard let bytes else {
            self = .fileNotExist
            return
        }
        self = String(validating: bytes, as: UTF8.self) == nil ? .unknownError : .success
    }
}

/// The work of a sync or launch on a patch.
package enum PatchWork: Equatable, Sendable {
    case none, install, download
}

/// The digest and URL of listed bytes.
package struct ContentAddress: Hashable, Sendable {
    package let sha256: SHA256Digest
    package let url: String

    package init(sha256: SHA256Digest, url: String) {
        self.sha256 = sha256
        self.url = url
    }
}
