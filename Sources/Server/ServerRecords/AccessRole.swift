package import PatchFormat

/// The rights on an app; each role includes the rights of those before it.
package enum AccessRole: String, CaseIterable, Comparable, Sendable {
    /// Reads the published state, drafts and proposals, and the history.
    case viewer
    /// Uploads releases, publishes signed releases, and proposes changes.
    case publisher
    /// Changes the dial and online parameters, and removes drafts.
    case operate = "operator"
    /// Makes and revokes tokens. With a grant on all apps, also reads the audit log.
    case admin

    package static func < (left: AccessRole, right: AccessRole) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// A role on one channel of an app, on one app, or on all apps.
package struct AccessGrant: Hashable, Sendable {
    package enum Scope: Hashable, Sendable {
        case channel(AppID, ChannelName)
        case app(AppID)
        /// Every app of the server, also later ones.
        case everything
    }

    package let scope: Scope
    package let role: AccessRole

    package init(_ scope: Scope, _ role: AccessRole) {
        self.scope = scope
        self.role = role
    }

    /// Reads `com.example.shop=publisher`, `com.example.shop/production=publisher` or `*=viewer`.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let role = AccessRole(rawValue: String(parts[1])) else { return nil }
        guard let scope = Scope(String(parts[0])) else { return nil }
        self.init(scope, role)
    }

    package static let rule =
        "must be APP=ROLE, APP/CHANNEL=ROLE or *=ROLE, ROLE being viewer, publisher, operator or admin"

    package var description: String { "\(scope.text)=\(role.rawValue)" }
}

extension AccessGrant.Scope {
    package init?(_ text: String) {
        if text == "*" {
            self = .everything
            return
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let app = AppID(String(parts[0])) else { return nil }
        guard parts.count == 2 else {
            self = .app(app)
            return
        }
        guard let channel = ChannelName(String(parts[1])) else { return nil }
        self = .channel(app, channel)
    }

    package var text: String {
        switch self {
        case .channel(let app, let channel): "\(app)/\(channel)"
        case .app(let app): app.text
        case .everything: "*"
        }
    }

    /// The app, or nil for all apps.
    package var app: AppID? {
        switch self {
        case .channel(let app, _), .app(let app): app
        case .everything: nil
        }
    }

    /// The channel, or nil for all channels.
    package var channel: ChannelName? {
        switch self {
        case .channel(_, let channel): channel
        case .app, .everything: nil
        }
    }
}

extension [AccessGrant] {
    /// The highest role on an app as a whole, in all its channels, or nil without such a role.
    package func role(on app: AppID) -> AccessRole? {
        filter { $0.scope == .everything || $0.scope == .app(app) }.map(\.role).max()
    }

    /// The highest role in one channel of an app.
    package func role(on app: AppID, in channel: ChannelName) -> AccessRole? {
        let here = filter { $0.scope == .channel(app, channel) }.map(\.role).max()
        return [role(on: app), here].compactMap(\.self).max()
    }

    /// The highest role anywhere in an app, also in a single channel.
    package func role(somewhereIn app: AppID) -> AccessRole? {
        filter { $0.scope == .everything || $0.scope.app == app }.map(\.role).max()
    }

    /// The channels of an app to which these grants are limited, by name, or nil if a grant covers the whole app.
    package func onlyChannels(of app: AppID) -> [ChannelName]? {
        guard role(on: app) == nil else { return nil }
        return Set(filter { $0.scope.app == app }.compactMap(\.scope.channel)).sorted()
    }

    /// The role on the server itself, above its apps.
    package var roleOnEverything: AccessRole? {
        filter { $0.scope == .everything }.map(\.role).max()
    }

    /// Whether a holder of these grants may grant the others: only roles that it has itself.
    package func cover(_ others: [AccessGrant]) -> Bool {
        others.allSatisfy { other in
            let own =
                switch other.scope {
                case .channel(let app, let channel): role(on: app, in: channel)
                case .app(let app): role(on: app)
                case .everything: roleOnEverything
                }
            return own == .admin
        }
    }
}
