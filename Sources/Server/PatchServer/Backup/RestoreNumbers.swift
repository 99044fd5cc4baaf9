package import PatchFormat
import PatchCrypto
import PatchTrust

/// An app of a server that came back from a backup: what it lists, and the numbers above which it goes on.
package struct RestoredApp: Equatable, Sendable {
    package let app: AppID
    package let channels: [ChannelName: Int]
    /// When what came back was signed; nil where it does not say.
    package let signedAt: UTCTime?
    /// Snapshot, timestamp and dial are signed with higher numbers from now on.
    package let above: Int
}

/// Gives away every number that this server may have used after it was backed up, durably, before it signs anything.
///
/// The caller holds the lock. Done again before anything is signed, it gives away the same ones.
package struct RestoreNumbers: Sendable {
    /// How many numbers a restored server leaves out.
    ///
    /// Devices refuse a timestamp, a snapshot and a dial with a lower number than one that they know (TUF 5.4.3, 5.5.5), and
    /// nobody can say what the server gave after the backup: one number a change. A server that signs every ten minutes
    /// takes nineteen years for a million; and of the 2^53 that there are, a million may be left out nine thousand million
    /// times.
    package static let step = 1_000_000

    private let repository: AppRepository
    private let known: Int

    /// - Parameter known: a number that devices are known to have seen; 0 for none.
    package init(of repository: AppRepository, above known: Int = 0) {
        (self.repository, self.known) = (repository, known)
    }

    package func run() throws(ServerError) -> RestoredApp {
        let state = try PublishedState(of: repository)
        var record = try repository.tree.versionRecord()
        let given = decide(over: state, record.exported)
        record.exported = given
        record.restored = state.channels.mapValues(\.role.header.version)
        try repository.tree.keep(record)
        return RestoredApp(
            app: repository.app,
            channels: record.restored,
            signedAt: state.timestamp.signedAt,
            above: max(given.dial, given.snapshot, given.timestamp)
        )
    }

    private func decide(over state: PublishedState, _ exported: FreshRoles.Versions?) -> FreshRoles.Versions {
        func above(_ version: Int, _ given: Int?) -> Int {
            // A thief's number, near the end, leaves room for a next one.
            max(given ?? 0, known, version <= UsedVersions.sane ? version + Self.step : version)
        }
        return FreshRoles.Versions(
            dial: above(state.dial.header.version, exported?.dial),
            snapshot: above(state.snapshot.header.version, exported?.snapshot),
            timestamp: above(state.timestamp.header.version, exported?.timestamp)
        )
    }
}
