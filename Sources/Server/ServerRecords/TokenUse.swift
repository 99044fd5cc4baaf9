package import PatchFormat

/// How long a valid token has been unused: since its last use, or since it was made.
package struct TokenUse: Equatable, Sendable {
    package let idle: Duration

    /// - Parameter lastUsed: The time of the last use, or nil if it was never used.
    package init(created: UTCTime, lastUsed: UTCTime?, at now: UTCTime) {
        idle = .seconds(max(0, now.seconds - (lastUsed ?? created).seconds))
    }

    package func isIdle(for time: Duration) -> Bool { idle >= time }

    /// The time in words: `12 days`.
    ///
    /// Empty for less than one day.
    package var words: String {
        let days = Int(idle.components.seconds / 86_400)
        switch days {
        case 0: return ""
        case 1: return "1 day"
        default: return "\(days) days"
        }
    }
}
