package import PatchFormat
import PatchTrust

/// The apps, versions and files of a backup, and when it was made: `backup.json`.
package struct BackupHeader: Equatable, Sendable {
    package static let name = "backup.json"
    package static let format = "patchline-backup-v1"
    /// Enough for about 100,000 files.
    package static let limit = 16_000_000

    package struct App: Equatable, Sendable {
        package let app: AppID
        /// The timestamp's version, the highest that devices knew when the backup was made.
        package let timestamp: Int
        package let channels: [ChannelName: Int]

        package init(_ state: PublishedState) {
            app = state.app
            timestamp = state.timestamp.header.version
            channels = state.channels.mapValues(\.role.header.version)
        }
    }

    /// The newest entry of the audit log.
    ///
    /// Its hash covers all entries before it.
    package struct AuditHead: Equatable, Sendable {
        package let number: Int
        package let hash: SHA256Digest

        package init(number: Int, hash: SHA256Digest) {
            (self.number, self.hash) = (number, hash)
        }
    }

    /// The time of the backup, by the server's clock.
    package let made: UTCTime
    package let apps: [App]
    /// Nil in backups of older programs, which are not checked for changes.
    package let files: [BackedUpFile]?
    /// Nil for an empty log, and in backups of older programs.
    package let audit: AuditHead?

    package init(made: UTCTime, apps: [App], files: [BackedUpFile]? = nil, audit: AuditHead? = nil) {
        (self.made, self.apps, self.files, self.audit) = (made, apps, files, audit)
    }
}

extension BackupHeader {
    package init(_ bytes: [UInt8]) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: Self.name, limit: Self.limit), of: Self.name)
        try fields.constant("format", Self.format)
        made = try fields.time("made")
        var apps: [App] = []
        for (index, value) in try fields.array("apps", limit: Self.limit).enumerated() {
            apps.append(try App(try Fields(value, of: Self.name, at: "apps[\(index)]")))
        }
        self.apps = apps
        if fields.has("files") {
            var files: [BackedUpFile] = []
            for (index, value) in try fields.array("files", limit: Self.limit).enumerated() {
                files.append(try BackedUpFile(try Fields(value, of: Self.name, at: "files[\(index)]")))
            }
            self.files = files
        } else {
            files = nil
        }
        guard fields.has("audit") else {
            audit = nil
            return
        }
        let head = try fields.fields("audit")
        audit = AuditHead(
            number: try head.integer("number", in: 1...(1 << 53 - 1)),
            hash: try head.digest("hash", as: SHA256Digest.self)
        )
    }

    package var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("made", .text(made.description)), ("apps", .array(apps.map(\.json))),
            ("files", files.map { .array($0.map(\.json)) }), ("audit", audit.map(\.json)),
        ])
    }
}

extension BackupHeader.AuditHead {
    package var json: JSON { .fields([("number", .integer(number)), ("hash", .text(hash.hex))]) }
}

extension BackupHeader.App {
    fileprivate init(_ fields: Fields) throws(FormatError) {
        app = try fields.name("app")
        timestamp = try fields.integer("timestamp", in: 1...(1 << 53 - 1))
        var channels: [ChannelName: Int] = [:]
        for (index, value) in try fields.array("channels", limit: BackupHeader.limit).enumerated() {
            let row = try Fields(value, of: BackupHeader.name, at: "channels[\(index)]")
            channels[try row.name("channel")] = try row.integer("roleVersion", in: 1...(1 << 53 - 1))
        }
        self.channels = channels
    }

    fileprivate var json: JSON {
        .fields([
            ("app", .text(app.text)), ("timestamp", .integer(timestamp)),
            (
                "channels",
                .array(
                    channels.sorted { $0.key < $1.key }.map {
                        .fields([("channel", .text($0.key.text)), ("roleVersion", .integer($0.value))])
                    }
                )
            ),
        ])
    }
}
