package import PatchFormat

/// The rights on an app; each role includes the rights of those before it.
package enum AccessRole: String, CaseIterable, Comparable, Sendable {
    /// Sees the published state, drafts and proposals, and the history.
    case viewer
    /// Uploads releases, publishes what its key holders have signed, and proposes changes.
    case publisher
    /// Turns the dial, changes online parameters, and removes drafts.
    case operate = "operator"
    /// Makes and revokes tokens; on all apps also reads the audit log.
    case admin

    package static func < (left: AccessRole, right: AccessRole) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// A role on one app, or on all of them.
package struct AccessGrant: Hashable, Sendable {
    package enum Scope: Hashable, Sendable {
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

    /// `com.example.shop=publisher`, `*=viewer`.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let role = AccessRole(rawValue: String(parts[1])) else { return nil }
        guard let scope = Scope(String(parts[0])) else { return nil }
        self.init(scope, role)
    }

    package var description: String { "\(scope.text)=\(role.rawValue)" }
}

extension AccessGrant.Scope {
    package init?(_ text: String) {
        if text == "*" {
            self = .everything
            return
        }
        guard let app = AppID(text) else { return nil }
        self = .app(app)
    }

    package var text: String { app?.text ?? "*" }

    /// Nil for all of them.
    package var app: AppID? {
        switch self {
        case .app(let app): app
        case .everything: nil
        }
    }
}

extension [AccessGrant] {
    /// The highest role on an app; nil where there is none.
    package func role(on app: AppID) -> AccessRole? {
        filter { $0.scope == .everything || $0.scope == .app(app) }.map(\.role).max()
    }

    /// The role on the server itself, which is above its apps.
    package var roleOnEverything: AccessRole? {
        filter { $0.scope == .everything }.map(\.role).max()
    }

    /// Whether these grants suffice to hand out those: no holder gives more than it has.
    package func cover(_ others: [AccessGrant]) -> Bool {
        others.allSatisfy { other in
            let own =
                switch other.scope {
                case .app(let app): role(on: app)
                case .everything: roleOnEverything
                }
            return own == .admin
        }
    }
}
