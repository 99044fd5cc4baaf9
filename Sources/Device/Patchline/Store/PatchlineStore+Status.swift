import AssetServer
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchCrypto
import SystemPackage

extension PatchlineStore {
    /// A version of a patch, by patch id and version.
    public struct Version: Hashable, Sendable, CustomStringConvertible {
        public let patch: String
        public let version: String

        /// The version in words: `web 1.0.0`.
        public var description: String { "\(patch) \(version)" }

        init(_ label: Label) {
            patch = label.patchID.text
            version = label.version.text
        }

        init(_ patch: PatchID, _ version: VersionLabel) {
            self.patch = patch.text
            self.version = version.text
        }
    }

    /// A point in time with a precision of one second.
    public struct Moment: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// The seconds since 1970-01-01T00:00:00Z.
        public let seconds: Int

        /// The time in RFC 3339 format, in UTC.
        public var description: String { UTCTime(seconds: seconds).description }

        init(_ time: UTCTime) { seconds = time.seconds }

        public static func < (left: Moment, right: Moment) -> Bool { left.seconds < right.seconds }
    }

    /// The last sync's failure, and how many syncs failed in a row.
    public struct SyncFailure: Equatable, Sendable {
        /// When the last sync failed.
        public let time: Moment
        /// When the first of these consecutive failures occurred.
        public let since: Moment
        public let inARow: Int
        /// A stable code, such as `diskFull` or `noConnection`.
        ///
        /// Later versions may add codes.
        public let code: String
        /// The code in words.
        public let reason: String
        /// The error's sentence.
        public let error: String
    }

    /// The state of a device, as `patchsync status` shows it.
    public struct Status: Equatable, Sendable {
        public enum Phase: String, Sendable {
            /// Nothing is installed.
            case empty
            /// The running selection is confirmed, and none is pending.
            case settled
            /// A new selection is pending.
            case pending
            /// The running selection is on trial.
            case trying
        }

        public let app: String
        public let channel: String
        public let server: String
        public let phase: Phase
        /// Whether the running selection was not confirmed in time and stays, because there is no selection to return to.
        public let isUnproven: Bool
        /// The time of the last sync, or nil before the first.
        public let lastSync: Moment?
        /// The last sync's failure, or nil if it succeeded.
        public let lastFailure: SyncFailure?
        /// The release seen by the last sync.
        public let release: Int?
        /// The running patches, and the pending ones that replace them, by id.
        public let patches: [Patch]
        /// The versions that failed here or were rolled back by hand.
        public let blocks: [Block]
        /// The listed versions that are not for this device now, and why.
        public let passedOver: [PassedOver]
        /// The versions that the last sync deferred until the network is unmetered, by id.
        public let putOff: [Waiting]
        /// The reason why the pending version does not start yet.
        public let hold: Hold?
        /// The newest version of each patch that waits for approval.
        public let awaiting: [Awaited]
        /// Why the store's state could not be read, and the state that the device uses instead.
        public let stateFault: String?
    }

    /// A version that waits for an unmetered network.
    public struct Waiting: Equatable, Sendable {
        public let version: Version
        /// The last known cost in bytes, or nil if unknown.
        public let bytes: Int?
    }

    /// One patch of a status.
    public struct Patch: Equatable, Sendable {
        public enum Kind: String, Sendable { case script, bundle }

        public let version: Version
        public let kind: Kind
        public let state: State
        /// The missing or wrong file, if any; the next sync heals it.
        public let fault: String?
        /// Whether the patch is pending, and replaces a running one.
        public let isPending: Bool
    }

    /// The state of a patch on this device; raw values as in the JSON of `patchsync`.
    public enum State: String, Sendable, CaseIterable {
        /// The files exist and cannot be installed.
        case unusable = "UnKnownError"
        /// The version is stored and has not started yet.
        case waiting = "UnInstall"
        case installed = "Success"
        case fileMissing = "FileNotExist"
        case fileAltered = "FileNotMatch"
        case otherListed = "Update"
        case new = "Add"
    }

    /// A version that this device does not install for some time.
    public struct Block: Equatable, Sendable {
        public enum Next: String, Sendable {
            /// A sync installs it after ``Block/until``. A sync that retries failures installs it at once.
            case waits
            /// A sync installs it after ``Block/until``. ``PatchlineStore/unblock(_:)`` ends the block.
            case blocked
            /// The next sync installs it.
            case free
            /// It is on trial again now.
            case onTrial
            /// It is no longer listed, so no sync installs it.
            case notListed
        }

        public let version: Version
        public let failures: Int
        public let until: Moment
        /// The reason in words, such as `rolled back by hand`.
        public let reason: String
        /// The first error of its pages or its script, in the browser's words.
        public let pageError: String?
        public let next: Next
    }

    /// A listed version that this device does not install now.
    public struct PassedOver: Equatable, Sendable {
        public let version: Version
        public let reason: Reason
    }

    /// The reason why a device does not install a version.
    public struct Reason: Equatable, Sendable, CustomStringConvertible {
        /// The rule that excludes the version: `rollout`, `paused`, `appVersion`, `condition`, `users`, `waiting`, `blocked`,
        /// `rolledBackByHand`, `transferWaiting`, `notReceived`, `metered`, `incompatible`, `republished`, `unmet`, `breaks`,
        /// `noPlace`, `held`, `notChosen`, `unapproved`, `dialMissing`, `unknownRule`.
        ///
        /// Later versions may add codes.
        public let code: String
        /// The reason in words, with the condition under which the version would be installed.
        public let description: String

        init(_ why: NotEligible) {
            code = why.code
            description = why.description
        }
    }

    /// A running script patch.
    public struct Script: Equatable, Sendable {
        public enum Side: String, Sendable { case host, page, both }

        public let version: Version
        /// Where the script runs: in the host program, in its pages, into which the device inserts it, or in both.
        public let runsIn: Side
        /// The script's SHA-256 digest, in 64 lowercase hex digits.
        public let sha256: String
        /// The path of the script's file; nil if the file is missing or altered, until the next sync.
        public let file: String?

        let digest: SHA256Digest
        private let label: Label
        private let size: Int

        init(_ script: InstalledScript, files: any FileOperations) {
            version = Version(script.patch.label)
            label = script.patch.label
            runsIn = Side(rawValue: script.patch.place.side.rawValue) ?? .host
            digest = script.patch.fingerprint.sha256
            size = script.patch.fingerprint.size
            sha256 = digest.hex
            file = script.file?.string
        }

        func failure(_ message: String, line: Int, column: Int, launch: LaunchToken?) -> ScriptFailure {
            var failure = ScriptFailure(
                launch: launch?.text,
                patchID: label.patchID,
                version: label.version,
                fault: .threw,
                message: message,
                line: line,
                column: column
            )
            failure.isInProgram = true
            return failure
        }

        /// Reads the script's text, and verifies it against the signed digest.
        ///
        /// - Throws: `refused` if the bytes differ, `disk` if they cannot be read.
        public func source() throws(PatchlineError) -> String {
            guard let file else {
                throw PatchlineError("\(version) is damaged; the next sync heals it", code: .refused)
            }
            let bytes: [UInt8]
            do throws(FileError) { bytes = try DiskFiles().read(FilePath(file), limit: size) } catch {
                throw PatchlineError(.file(error))
            }
            guard SHA256Digest(of: bytes) == digest, let text = String(validating: bytes, as: UTF8.self) else {
                throw PatchlineError("\(version): the sha256 does not match its entry", code: .refused)
            }
            return text
        }
    }
}

extension PatchlineStore.Status {
    init(_ report: StatusReport, of device: Device) {
        app = device.configuration.app.text
        channel = device.configuration.channel.text
        server = device.configuration.server.text
        phase =
            switch report.phase {
            case .empty: .empty
            case .settled: .settled
            case .pending: .pending
            case .trying: .trying
            }
        isUnproven = report.machine.isUnproven
        lastSync = report.lastSync.map { .init($0.at) }
        lastFailure = report.syncFailure.map { .init($0) }
        release = report.lastSync?.roleVersion
        patches = report.rows.map(PatchlineStore.Patch.init)
        blocks = report.machine.blocks.blocks.sorted { $0.key < $1.key }.map { content, block in
            PatchlineStore.Block(
                version: .init(content.patchID, block.version),
                failures: block.failures,
                until: .init(block.until),
                reason: block.reason.rawValue,
                pageError: block.error?.description,
                next: .init(report.retries[content] ?? .waits)
            )
        }
        passedOver = report.heldBack.map { .init($0.decision, $0.passed) }
        putOff = report.putOff.rows.sorted { $0.key < $1.key }.map { content, row in
            PatchlineStore.Waiting(version: .init(content.patchID, row.version), bytes: row.bytes)
        }
        hold = report.hold.map(PatchlineStore.Hold.init)
        awaiting = report.awaiting.map(PatchlineStore.Awaited.init)
        stateFault = report.fault?.description
    }
}

extension PatchlineStore.Patch {
    fileprivate init(_ row: StatusReport.Row) {
        version = .init(row.patchID, row.version)
        kind = row.kind == .script ? .script : .bundle
        state = .init(row.state)
        fault = row.fault
        isPending = row.isPending
    }
}

extension PatchlineStore.State {
    init(_ state: PatchState) {
        switch state {
        case .unknownError: self = .unusable
        case .unInstall: self = .waiting
        case .success: self = .installed
        case .fileNotExist: self = .fileMissing
        case .fileNotMatch: self = .fileAltered
        case .update: self = .otherListed
        case .add: self = .new
        }
    }
}

extension PatchlineStore.Block.Next {
    fileprivate init(_ retry: StatusReport.Retry) {
        switch retry {
        case .waits: self = .waits
        case .blocked: self = .blocked
        case .free: self = .free
        case .onTrial: self = .onTrial
        case .notListed: self = .notListed
        }
    }
}

extension PatchlineStore.PassedOver {
    init(_ decision: Decision, _ passed: Decision.PassedOver) {
        version = .init(decision.patchID, passed.version)
        reason = .init(passed.why)
    }
}

extension PatchlineStore.SyncFailure {
    init(_ failure: PatchSync.SyncFailure) {
        (time, since, inARow) = (.init(failure.time), .init(failure.since), failure.inARow)
        (code, reason, error) = (failure.code.rawValue, failure.code.words, failure.text)
    }
}
