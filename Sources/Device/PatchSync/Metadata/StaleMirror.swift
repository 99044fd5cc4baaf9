package import PatchFormat

/// A server whose timestamp is older than one that this device has seen: a CDN node or a second server that lags.
///
/// Or somebody replays old metadata; nothing is taken from it either way.
package struct StaleMirror: Equatable, Sendable {
    /// How long a lag is nobody's business: the server signs a timestamp every few hours.
    package static let patience = Duration.days(1)

    /// Versions of the timestamp.
    package let offered: Int
    package let known: Int
    /// Whether it has lasted so long that a person should look.
    package let isOverdue: Bool

    /// - Parameters:
    ///   - signedAt: when the known timestamp was signed; nil where it does not say.
    ///   - clock: the device's. When the known one is dated far ahead of it, one of them is wrong, and a person should
    ///     look too: a date in the future would keep this quiet for long.
    package init(offered: Int, known: Int, signedAt: UTCTime?, clock: UTCTime) {
        self.offered = offered
        self.known = known
        isOverdue =
            signedAt.map { $0.adding(Self.patience) < clock || clock.adding(Self.patience) < $0 } ?? true
    }
}

extension StaleMirror: CustomStringConvertible {
    package var description: String {
        "the server is behind: its timestamp is version \(offered), and \(known) is known; what is known was kept"
    }
}
