package import PatchFormat

/// How long a valid token has not been used: since its last use, or since it was made.
package struct TokenUse: Equatable, Sendable {
    package let idle: Duration

    /// - Parameter lastUsed: nil for a token that was never used.
    package init(created: UTCTime, lastUsed: UTCTime?, at now: UTCTime) {
        idle = .seconds(max(0, now.seconds - (lastUsed ?? created).seconds))
    }

    package func isIdle(for time: Duration) -> Bool { idle >= time }

    /// `12 days`; empty for less than one.
    package var words: String {
        let days = Int(idle.components.seconds / 86_400)
        switch days {
        case 0: return ""
        case 1: return "1 day"
        default: return "\(days) days"
        }
    }
}
