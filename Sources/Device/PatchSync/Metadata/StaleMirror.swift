package import PatchFormat

/// A server whose timestamp is older than one that this device has seen: a CDN node or a second server that lags.
///
/// The cause may also be a replay of old metadata. The device keeps the newer metadata in both cases.
package struct StaleMirror: Equatable, Sendable {
    /// How long a lag is not reported.
    ///
    /// The server signs a timestamp every few hours.
    package static let patience = Duration.days(1)

    /// The version of the server's timestamp.
    package let offered: Int
    package let known: Int
    /// Whether the lag has lasted so long that the operator should investigate.
    package let isOverdue: Bool

    /// - Parameters:
    ///   - signedAt: When the known timestamp was signed, or nil if it has no date.
    ///   - clock: The device's clock. A known timestamp dated far ahead of it is reported too, because one of them is wrong.
    ///     Otherwise a date in the future would suppress the report for a long time.
    package init(offered: Int, known: Int, signedAt: UTCTime?, clock: UTCTime) {
        self.offered = offered
        self.known = known
        isOverdue =
            signedAt.map { $0.adding(Self.patience) < clock || clock.adding(Self.patience) < $0 } ?? true
    }
}

extension StaleMirror: CustomStringConvertible {
    package var description: String {
        "the server is behind: its timestamp is version \(offered), but version \(known) is known and was kept"
    }
}
