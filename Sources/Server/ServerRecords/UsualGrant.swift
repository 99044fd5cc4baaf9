package import PatchFormat

/// The default grant of a new token: publisher in one channel of one app, the minimum that a pipeline needs.
package enum UsualGrant {
    package static let channel = "production"

    package enum Fault: Error, Equatable, Sendable {
        case noApp
        case severalApps([AppID])

        package var sentence: String {
            switch self {
            case .noApp: "this server has no app yet: name the app with --app, or the rights with --grant"
            case .severalApps(let apps): "--app is needed: this server has \(apps.map(\.text).joined(separator: ", "))"
            }
        }
    }

    package static func grant(
        app: AppID?,
        channel: ChannelName?,
        among apps: [AppID]
    ) throws(Fault) -> AccessGrant {
        guard let name = channel ?? ChannelName(Self.channel) else { preconditionFailure("it is a channel's name") }
        if let app { return AccessGrant(.channel(app, name), .publisher) }
        guard let only = apps.first else { throw .noApp }
        guard apps.count == 1 else { throw .severalApps(apps) }
        return AccessGrant(.channel(only, name), .publisher)
    }
}
