package import PatchChoice
import PatchCrypto
import PatchTrust
package import PatchFormat
package import SystemPackage

/// The settings of a store.
package struct DeviceConfiguration: Equatable, Sendable {
    package static let format = "patchline-config-v1"

    package let app: AppID
    package var server: ServerURL
    package var channel: ChannelName
    package var appVersion: AppVersion?
    /// The loopback port of the first start.
    ///
    /// The pages' browser storage belongs to it.
    package var port: Int?
    /// The name under which pages are served: 127.0.0.1 in stores that predate the other names.
    package var pages = PagesName.shared(.address)
    package var access = ServerAccess()
    /// The user of the device, for rules that name users.
    package var user: PatchFormat.UserID?
    /// The values that conditions are evaluated with.
    package var data: [ConditionKey: ConditionValue] = [:]
    package var platform: Platform?
    /// The number of previously confirmed selections that stay on disk.
    package var keep = SelectionMachine.defaultKeep
    /// The disk space in bytes that downloads leave free, or nil for the standard reserve (``DownloadSpace``).
    package var reserve: Int?
    /// Whether the server is asked for the user's assignments.
    ///
    /// The request then contains a hash of the user id.
    package var answers = false
    /// Whether the device first requests all metadata in one answer.
    package var express = true
    /// The signatures that a bundle's files need.
    package var entrySignatures = EntrySignatures.required
    /// Whether a developer may run their own scripts on this device.
    package var debug = false
    package var network = NetworkUse()
    package var policy = UpdatePolicy()
    /// The absolute path of the embedded folder.
    package var embedded: FilePath?
    /// The build of the app that the selections were made for.
    package var appBuild: AppBuild?
    /// The digest of the `embedded.json` that was applied last.
    package var embeddedDigest: SHA256Digest?

    package init(
        app: AppID,
        server: ServerURL,
        channel: ChannelName,
        appVersion: AppVersion? = nil,
        port: Int? = nil
    ) {
        self.app = app
        self.server = server
        self.channel = channel
        self.appVersion = appVersion
        self.port = port
    }

    init(_ bytes: [UInt8], named document: String) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: Limits.stateFile), of: document)
        try fields.constant("format", Self.format)
        app = try fields.name("app")
        channel = try fields.name("channel")
        guard let server = ServerURL(try fields.string("server")) else { throw fields.broken("server", ServerURL.rule) }
        self.server = server
        appVersion = try fields.appVersion()
        port = fields.has("port") ? try fields.integer("port", in: 1...65_535) : nil
        if let text = try fields.optionalString("host") {
            guard let label = HostLabel(text) else { throw fields.broken("host", HostLabel.rule) }
            pages = .own(label)
        } else if let text = try fields.optionalString("sharedHost") {
            guard let name = PagesName.Shared(rawValue: text) else {
                throw fields.broken("sharedHost", "must be localhost or 127.0.0.1")
            }
            pages = .shared(name)
        }
        access = try ServerAccess(fields)
        try readFacts(fields)
        if let text = try fields.optionalString("embedded") {
            let path = FilePath(text)
            guard path.isAbsolute else { throw fields.broken("embedded", "must be an absolute path") }
            embedded = path
        }
        appBuild = fields.has("appBuild") ? try fields.name("appBuild") : nil
        embeddedDigest = fields.has("embeddedDigest") ? try fields.digest("embeddedDigest") : nil
    }

    /// Members that were added with conditions, users and platforms.
    ///
    /// Older stores lack them.
    private mutating func readFacts(_ fields: Fields) throws(FormatError) {
        user = try fields.userID()
        data = try fields.conditionData()
        platform = try fields.platform()
        answers = try fields.bool("answers", default: false)
        express = try fields.bool("express", default: true)
        debug = try fields.bool("debug", default: false)
        if let text = try fields.optionalString("entrySignatures") {
            guard let signatures = EntrySignatures(rawValue: text) else {
                throw fields.broken("entrySignatures", EntrySignatures.rule)
            }
            entrySignatures = signatures
        }
        network = try NetworkUse(fields)
        policy = try UpdatePolicy(fields)
        if fields.has("reserve") { reserve = try fields.integer("reserve", in: 0...NetworkUse.most) }
        if fields.has("keep") { keep = try fields.integer("keep", in: SelectionMachine.keepRange) }
    }

    var json: JSON {
        let told: [(String, JSON?)] = [
            ("format", .text(Self.format)), ("app", .text(app.text)), ("server", .text(server.text)),
            ("channel", .text(channel.text)), ("appVersion", appVersion.map { .text($0.text) }),
            ("port", port.map { .integer($0) }), ("host", host.map { .text($0.text) }),
            ("sharedHost", pages.host == .localhost ? .text(pages.text) : nil),
        ]
        let facts: [(String, JSON?)] = [
            ("user", user.map { .text($0.text) }), ("data", data.isEmpty ? nil : dataJSON),
            ("platform", platform?.json),
            ("keep", keep == SelectionMachine.defaultKeep ? nil : .integer(keep)),
            ("reserve", reserve.map { .integer($0) }),
            ("answers", answers ? .bool(true) : nil), ("express", express ? nil : .bool(false)),
            ("debug", debug ? .bool(true) : nil),
            ("entrySignatures", entrySignatures == .required ? nil : .text(entrySignatures.rawValue)),
        ]
        let shipped: [(String, JSON?)] = [
            ("embedded", embedded.map { .text($0.string) }), ("appBuild", appBuild.map { .text($0.text) }),
            ("embeddedDigest", embeddedDigest.map { .text($0.hex) }),
        ]
        return .fields(told + access.members + facts + network.members + policy.members + shipped)
    }

    /// Whether versions chosen for one configuration are also right for the other.
    func isForSameApp(as other: DeviceConfiguration) -> Bool {
        appVersion == other.appVersion && platform == other.platform && appBuild == other.appBuild
    }

    /// The app's own host, or nil if pages are served under a name that all programs of the machine share.
    package var host: HostLabel? {
        get { if case .own(let label) = pages { label } else { nil } }
        set { pages = newValue.map { .own($0) } ?? .shared(.address) }
    }

    package var dataJSON: JSON {
        .fields(data.sorted { $0.key < $1.key }.map { ($0.key.text, .text($0.value.text)) })
    }
}

extension DeviceFacts {
    package init(_ configuration: DeviceConfiguration, deviceID: [UInt8], time: UTCTime, retryNow: Bool) {
        self.init(
            deviceID: deviceID,
            appVersion: configuration.appVersion,
            user: configuration.user,
            data: configuration.data,
            platform: configuration.platform,
            time: time,
            retryNow: retryNow,
            consent: configuration.policy.consent
        )
    }
}

/// The signatures that a bundle's files need besides those of the channel's role.
package enum EntrySignatures: String, CaseIterable, Sendable {
    /// The signature of the list entry, and one for each manifest entry.
    case required
    /// The signature of the list entry alone. It covers the manifest's digest, and so every file's.
    ///
    /// The manifest's signature column is neither downloaded nor checked.
    case manifest

    package static let rule = "must be required or manifest"
}
