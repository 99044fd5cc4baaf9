package import PatchFormat
import PatchCrypto
import PatchTrust

/// An app restored from a backup: its published channels, and the version above which new roles are signed.
package struct RestoredApp: Equatable, Sendable {
    package let app: AppID
    package let channels: [ChannelName: Int]
    /// When the restored timestamp was signed, if it states that.
    package let signedAt: UTCTime?
    /// Snapshot, timestamp and dial are signed with higher versions from now on.
    package let above: Int
}

/// Reserves every role version that the server may have used after the backup.
///
/// Durable before anything is signed. The caller holds the lock. A repeated run before anything is signed reserves the same
/// versions.
package struct RestoreNumbers: Sendable {
    /// How many versions a restored server skips.
    ///
    /// Devices reject a timestamp, a snapshot and a dial with a lower version than a known one (TUF 5.4.3, 5.5.5). The versions
    /// that the server used after the backup are unknown: one per change. A server that signs every ten minutes takes nineteen
    /// years for a million. Of the 2^53 possible versions, a million can be skipped nine thousand million times.
    package static let step = 1_000_000

    private let repository: AppRepository
    private let known: Int

    /// - Parameter known: a version that devices are known to have seen; 0 for none.
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
            // An attacker's version near the maximum still leaves room for a next one.
            max(given ?? 0, known, version <= UsedVersions.sane ? version + Self.step : version)
        }
        return FreshRoles.Versions(
            dial: above(state.dial.header.version, exported?.dial),
            snapshot: above(state.snapshot.header.version, exported?.snapshot),
            timestamp: above(state.timestamp.header.version, exported?.timestamp)
        )
    }
}
