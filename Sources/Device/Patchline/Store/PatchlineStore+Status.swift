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

        /// As people write it: `web 1.0.0`.
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

    /// A moment, to the second.
    public struct Moment: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// Since 1970-01-01T00:00:00Z.
        public let seconds: Int

        /// RFC 3339, in UTC.
        public var description: String { UTCTime(seconds: seconds).description }

        init(_ time: UTCTime) { seconds = time.seconds }

        public static func < (left: Moment, right: Moment) -> Bool { left.seconds < right.seconds }
    }

    /// The last sync's failure, and how many syncs failed in a row.
    public struct SyncFailure: Equatable, Sendable {
        /// When the last sync failed.
        public let time: Moment
        /// When the first sync of the row failed.
        public let since: Moment
        public let inARow: Int
        /// A stable code, such as `diskFull` or `noConnection`; more may come.
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
        /// Whether the running selection was not confirmed in time and stays, because there is nothing to go back to.
        public let isUnproven: Bool
        /// Nil before the first.
        public let lastSync: Moment?
        /// The last sync's failure, or nil if it succeeded.
        public let lastFailure: SyncFailure?
        /// The release that the last sync saw.
        public let release: Int?
        /// The running patches, and the pending ones that replace them, by id.
        public let patches: [Patch]
        /// Versions that failed here or were rolled back by hand.
        public let blocks: [Block]
        /// Listed versions that are not for this device now, and why.
        public let passedOver: [PassedOver]
        /// Versions that the last sync left for a network on which bytes cost nothing, by id.
        public let putOff: [Waiting]
        /// Why what waits does not start yet.
        public let hold: Hold?
        /// Versions that wait for somebody's approval, of each patch the newest.
        public let awaiting: [Awaited]
        /// Why the store's state could not be read, and the state that the device uses instead.
        public let stateFault: String?
    }

    /// A version that waits for a network on which bytes cost nothing.
    public struct Waiting: Equatable, Sendable {
        public let version: Version
        /// What it would cost, as last known; nil where nobody could say.
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
        /// Whether it is pending, and replaces a running one.
        public let isPending: Bool
    }

    /// The state of a patch on this device; raw values as in the JSON of `patchsync`.
    public enum State: String, Sendable, CaseIterable {
        /// The bytes are there and cannot be installed.
        case unusable = "UnKnownError"
        /// On disk, not started yet.
        case waiting = "UnInstall"
        case installed = "Success"
        case fileMissing = "FileNotExist"
        case fileAltered = "FileNotMatch"
        case otherListed = "Update"
        case new = "Add"
    }

    /// A version that this device does not take for a while.
    public struct Block: Equatable, Sendable {
        public enum Next: String, Sendable {
            /// A sync takes it after ``Block/until``, and one that retries failures at once.
            case waits
            /// A sync takes it after ``Block/until``; ``PatchlineStore/unblock(_:)`` ends the block.
            case blocked
            /// The next sync takes it.
            case free
            /// It is on trial again now.
            case onTrial
            /// It is not listed any more, so no sync takes it.
            case notListed
        }

        public let version: Version
        public let failures: Int
        public let until: Moment
        /// `rolled back by hand`, say.
        public let reason: String
        /// The first error of its pages, or of its script, as the browser words it.
        public let pageError: String?
        public let next: Next
    }

    /// A listed version that this device does not take now.
    public struct PassedOver: Equatable, Sendable {
        public let version: Version
        public let reason: Reason
    }

    /// Why a device does not take a version.
    public struct Reason: Equatable, Sendable, CustomStringConvertible {
        /// The rule that speaks against it: `rollout`, `paused`, `appVersion`, `condition`, `users`, `waiting`,
        /// `blocked`, `rolledBackByHand`, `transferWaiting`, `notReceived`, `metered`, `incompatible`, `republished`, `unmet`,
        /// `breaks`, `noPlace`, `held`, `notChosen`, `unapproved`, `dialMissing`, `unknownRule`; more may come.
        public let code: String
        /// In words, with the condition under which it would be taken.
        public let description: String

        init(_ why: NotEligible) {
            code = why.code
            description = why.description
        }
    }

    /// A script patch that runs.
    public struct Script: Equatable, Sendable {
        public enum Side: String, Sendable { case host, page, both }

        public let version: Version
        /// Whether the program that holds the pages runs it, or its pages, into which the device puts it, or both.
        public let runsIn: Side
        /// 64 lowercase hex digits.
        public let sha256: String
        /// Its file; nil when that is missing or altered, until the next sync.
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

        /// The program, compared with the signed digest after it was read.
        ///
        /// - Throws: `refused` when the bytes are others, `disk` when they cannot be read.
        public func source() throws(PatchlineError) -> String {
            guard let file else {
                throw PatchlineError("\(version) is damaged; the next sync heals it", code: .refused)
            }
            let bytes: [UInt8]
            do throws(FileError) { bytes = try DiskFiles().read(FilePath(file), limit: size) } catch {
                throw PatchlineError(.file(error))
            }
            guard SHA256Digest(of: bytes) == digest, let text = String(validating: bytes, as: UTF8.self) else {
                throw PatchlineError("\(version): sha256 of the bytes is not the one its entry says", code: .refused)
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
