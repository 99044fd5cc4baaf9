package import Gateways
package import PatchFormat
import PatchServer
import ServerRecords

extension DeviceService {
    /// Takes what a client of JSPatch's platform reports.
    ///
    /// - Returns: whether it is acknowledged; a version that this channel never had is not, and nothing is written of it. One that is
    ///   listed no more is, and so is one of the developers' channel; they are not counted: their clients would send them for ever.
    package func take(
        _ report: PlatformReport,
        in channel: ChannelName,
        of app: AppID
    ) async throws(OperationError) -> Bool {
        let rows = try await packages(of: channel, in: app)
        let place = report.statistic.place
        let line = GatewayPackages.Line(.platform(report.app), place.appVersion)
        guard let row = rows.first(where: { $0.line == line }), place.version <= row.latest else {
            return await developersHad(place.version, of: line, in: app)
        }
        let statistics = PlatformStatistics(
            app: app,
            channel: channel,
            appKey: report.app,
            // As the list spells it, which is as the client does.
            appVersion: row.line.appVersion,
            version: place.version
        )
        guard statistics.isIn(rows) else { return true }
        try await counting { () async throws(RecordError) in
            try await statistics.count(
                report.statistic.outcome,
                on: report.device,
                in: operations.records.store,
                random: Self.random
            )
        }
        return true
    }

    private func developersHad(_ version: LoaderVersion, of line: GatewayPackages.Line, in app: AppID) async -> Bool {
        guard let channel = ChannelName(PackageSite.developers), let rows = try? await packages(of: channel, in: app)
        else { return false }
        return rows.contains { $0.line == line && version <= $0.latest }
    }

    private static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}
