package import PatchFormat
package import SystemPackage

/// What a store was told when it was made.
package struct DeviceConfiguration: Equatable, Sendable {
    package static let format = "patchline-config-v1"

    package let app: AppID
    package var server: ServerURL
    package var channel: ChannelName
    package var appVersion: AppVersion?
    /// The loopback port of the first start; pages' storage belongs to it.
    package var port: Int?
    /// The folder that the app ships; absolute.
    package var embedded: FilePath?
    /// The build of the app that the selections were made for.
    package var appBuild: AppBuild?
    /// Of the `embedded.json` that was settled last.
    package var embeddedDigest: SHA256Digest?

    package init(app: AppID, server: ServerURL, channel: ChannelName, appVersion: AppVersion?, port: Int? = nil) {
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
        appVersion = nil
        if let text = try fields.optionalString("appVersion") {
            guard let version = AppVersion(text) else { throw fields.broken("appVersion", AppVersion.rule) }
            appVersion = version
        }
        port = fields.has("port") ? try fields.integer("port", in: 1...65_535) : nil
        if let text = try fields.optionalString("embedded") {
            let path = FilePath(text)
            guard path.isAbsolute else { throw fields.broken("embedded", "must be an absolute path") }
            embedded = path
        }
        appBuild = fields.has("appBuild") ? try fields.name("appBuild") : nil
        embeddedDigest = fields.has("embeddedDigest") ? try fields.digest("embeddedDigest") : nil
    }

    var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("app", .text(app.text)), ("server", .text(server.text)),
            ("channel", .text(channel.text)), ("appVersion", appVersion.map { .text($0.text) }),
            ("port", port.map { .integer($0) }), ("embedded", embedded.map { .text($0.string) }),
            ("appBuild", appBuild.map { .text($0.text) }),
            ("embeddedDigest", embeddedDigest.map { .text($0.hex) }),
        ])
    }
}
