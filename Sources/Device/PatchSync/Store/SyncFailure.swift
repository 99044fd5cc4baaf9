import PatchFetch
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// The last sync of a channel, if it failed, and how many failed in a row.
///
/// Stored in `channels/CHANNEL/sync.json`, so that `status` can report it without a log. The file remains after a successful sync,
/// so that the next failure can be written in its place on a full disk.
package struct SyncFailure: Equatable, Sendable {
    /// Higher counts are stored as this one.
    package static let mostInARow = 1_000_000
    /// The maximum number of characters of an error's sentence.
    static let longestText = 500
    /// The fixed size of the file in bytes, so that any failure fits in the space of the one before.
    static let fileBytes = 8_192

    /// When the last sync failed.
    package let time: UTCTime
    /// When the first failure of the row happened.
    package let since: UTCTime
    package let inARow: Int
    package let code: SyncFailureCode
    /// The error's sentence.
    package let text: String
    /// The version that could not be downloaded, if the sync itself continued.
    package let label: Label?

    package init(
        time: UTCTime,
        since: UTCTime,
        inARow: Int,
        code: SyncFailureCode,
        text: String,
        label: Label? = nil
    ) {
        (self.time, self.since, self.code, self.label) = (time, min(since, time), code, label)
        self.inARow = min(max(1, inARow), Self.mostInARow)
        self.text = String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.longestText)))
    }

    /// Adds one failure to the row.
    init(_ error: SyncError, of label: Label? = nil, at time: UTCTime, after before: SyncFailure?) {
        self.init(
            time: time,
            since: before?.since ?? time,
            inARow: (before?.inARow ?? 0) + 1,
            code: SyncFailureCode(error),
            text: error.description,
            label: label
        )
    }
}

/// The reason why a sync failed, for programs.
///
/// The codes do not change between versions.
package enum SyncFailureCode: String, CaseIterable, Sendable {
    case diskFull, noRoom, notWritable, diskFailed, storeDamaged
    case nameUnknown, noConnection, noAnswer, busy, webPage, redirected, noHTTP
    case certificateName, certificateUntrusted, certificateExpired, certificateEarly, pinned, noTLS
    case serverFailed, notFound, altered, rolesExpired, serverBehind, noChannel, channelRetired
    case other

    package init(_ error: SyncError) {
        self =
            switch error {
            case .fetch(let error): Self(error)
            case .file(let error), .lock(.file(let error)): Self(error)
            case .noRoom: .noRoom
            case .trust(.expired), .trust(.clockAheadOrStale), .trust(.clockBehind): .rolesExpired
            case .trust(.rolledBack), .trust(.wrongVersion), .trust(.droppedFromSnapshot): .serverBehind
            case .trust(.notInSnapshot), .trust(.notDelegated), .trust(.noChannel): .noChannel
            case .trust(.retired): .channelRetired
            case .trust, .format, .object, .pack: .altered
            case .storeIncomplete, .noStore, .unreadable: .storeDamaged
            default: .other
            }
    }

    private init(_ error: FileError) {
        self =
            switch error {
            case .noSpace: .diskFull
            case .readOnly, .permission: .notWritable
            case .notFound, .exists, .tooLarge, .notRegular, .notDirectory, .cannotLink, .io: .diskFailed
            }
    }

    private init(_ error: FetchError) {
        self =
            switch error {
            case .connection: .noConnection
            case .noAddress: .nameUnknown
            case .timedOut, .stalled, .short, .syncDeadline: .noAnswer
            case .busy: .busy
            case .notFound: .notFound
            case .redirected: .redirected
            case .webPage, .intercepted: .webPage
            case .answer: .noHTTP
            case .tls(let fault): Self(fault)
            case .tooLarge, .encoded, .badForm: .altered
            case .status: .serverFailed
            default: .other
            }
    }

    private init(_ fault: TLSFault) {
        self =
            switch fault {
            case .wrongHostName: .certificateName
            case .unknownIssuer, .noAuthority: .certificateUntrusted
            case .expired: .certificateExpired
            case .notYetValid: .certificateEarly
            case .pinMismatch: .pinned
            case .notTLS, .notEncrypted, .handshake: .noTLS
            }
    }

    /// The reason in a few words, for one line of `status`.
    package var words: String {
        switch self {
        case .diskFull: "disk full"
        case .noRoom: "not enough room on the disk"
        case .notWritable: "the store cannot be written"
        case .diskFailed: "the disk failed"
        case .storeDamaged: "the store is damaged"
        case .nameUnknown: "the server's name has no address"
        case .noConnection: "no connection to the server"
        case .noAnswer: "no answer from the server"
        case .busy: "the server is busy"
        case .webPage: "a captive portal or proxy answers in the server's place"
        case .redirected: "the server redirects to another address"
        case .noHTTP: "the answer is not HTTP"
        case .certificateName: "the server's certificate is for another name"
        case .certificateUntrusted: "the server's certificate is not trusted"
        case .certificateExpired: "the server's certificate has expired"
        case .certificateEarly: "the server's certificate is not valid yet"
        case .pinned: "the server's key is not the pinned one"
        case .noTLS: "no TLS with the server"
        case .serverFailed: "the server failed"
        case .notFound: "the server lacks a file"
        case .altered: "an answer of the server is invalid"
        case .rolesExpired: "the server's signatures have expired, or a clock is wrong"
        case .serverBehind: "the server is behind"
        case .noChannel: "the server has no such channel"
        case .channelRetired: "the channel is retired"
        case .other: "another error"
        }
    }
}

extension SyncFailure {
    /// A sentence such as `last sync failed 15:15 UTC, disk full, 3 in a row`.
    ///
    /// - Parameter now: The present time. The date is omitted for a failure of the same day.
    package func sentence(at now: UTCTime) -> String {
        "last sync failed \(Self.clock(time, at: now)), "
            + (label.map { "\($0): " } ?? "") + "\(code.words), \(inARow) in a row"
    }

    private static func clock(_ time: UTCTime, at now: UTCTime) -> String {
        let (text, today) = (time.description, now.description.prefix(10))
        let clock = "\(text.dropFirst(11).prefix(5)) UTC"
        return text.hasPrefix(today) ? clock : "\(text.prefix(10)) \(clock)"
    }

    /// The object in the output of `status --json`.
    package var json: JSON {
        .fields([
            ("at", .text(time.description)), ("since", .text(since.description)), ("inARow", .integer(inARow)),
            ("code", .text(code.rawValue)), ("reason", .text(code.words)), ("error", .text(text)),
            ("patchId", label.map { .text($0.patchID.text) }), ("version", label.map { .text($0.version.text) }),
        ])
    }

    init(_ fields: Fields) throws(FormatError) {
        let label: Label? =
            fields.has("patchId")
            ? Label(patchID: try fields.name("patchId"), version: try fields.name("version")) : nil
        self.init(
            time: try fields.time("at"),
            since: try fields.time("since"),
            inARow: try fields.integer("inARow", in: 1...Self.mostInARow),
            // A newer program may have written a code that is unknown here.
            code: SyncFailureCode(rawValue: try fields.string("code")) ?? .other,
            text: try fields.string("error"),
            label: label
        )
    }
}

/// `channels/CHANNEL/sync.json`: `{"format": "patchline-sync-v1", "failure": {…}}`.
extension DeviceStore {
    private static let syncFormat = "patchline-sync-v1"

    private func syncFile(_ channel: ChannelName) -> FilePath { directory(of: channel).at("sync.json") }

    /// The failure of the last sync, or nil if it succeeded.
    ///
    /// An unreadable file counts as no failure.
    package func syncFailure(of channel: ChannelName) -> SyncFailure? {
        guard let bytes = try? files.read(syncFile(channel), limit: SyncFailure.fileBytes),
            let json = try? JSON.document(bytes, named: "sync.json", limit: SyncFailure.fileBytes),
            let fields = try? Fields(json, of: "sync.json"),
            (try? fields.constant("format", Self.syncFormat)) != nil,
            let failure = try? fields.fields("failure")
        else { return nil }
        return try? SyncFailure(failure)
    }

    /// Runs a sync and stores whether it failed.
    ///
    /// A sync that was cancelled, or that another process prevented, does not count. The outcome of a sync never depends on
    /// this file.
    package func notingFailure(
        at now: @Sendable () -> UTCTime,
        _ sync: () async throws(SyncError) -> SyncReport
    ) async throws(SyncError) -> SyncReport {
        do throws(SyncError) {
            let report = try await sync()
            let failure = report.failures.first
            note(failure.map { ($0.error, Label(patchID: $0.patchID, version: $0.version)) }, at: now())
            return report
        } catch {
            if error.concernsSyncs { note((error, nil), at: now()) }
            throw error
        }
    }

    /// - Parameter failure: The error, or nil after a successful sync.
    private func note(_ failure: (SyncError, Label?)?, at time: UTCTime) {
        guard let channel = try? configuration().channel else { return }
        let before = syncFailure(of: channel)
        // A success is written only once, so that a device with nothing to download does not write to its disk.
        if failure == nil, before == nil, ((try? files.identity(of: syncFile(channel))) ?? nil) != nil { return }
        let after = failure.map { SyncFailure($0.0, of: $0.1, at: time, after: before) }
        var bytes = JSON.fields([("format", .text(Self.syncFormat)), ("failure", after?.json)]).fileBytes
        bytes += [UInt8](repeating: 0x20, count: max(0, SyncFailure.fileBytes - bytes.count))
        do throws(SyncError) { try save(bytes, as: "sync.json", of: channel) } catch .file(.noSpace) {
            // The old file's space is enough for the new one. A crash in between loses only the count.
            guard failure != nil, (try? files.removeIfPresent(syncFile(channel))) != nil else { return }
            try? save(bytes, as: "sync.json", of: channel)
        } catch {
            // A store that is not writable does not count its failures.
        }
    }
}

extension SyncError {
    fileprivate var concernsSyncs: Bool {
        switch self {
        case .fetch(.cancelled), .lock(.held): false
        default: true
        }
    }
}
