package import Gateways
package import PatchFormat
import PatchServer
import ServerRecords

extension DeviceService {
    /// Receives a report of a client of JSPatch's platform.
    ///
    /// - Returns: whether it is acknowledged. False for a version that this channel never had; then nothing is written. Versions no
    ///   longer listed and those of the developers' channel are acknowledged, since their clients would otherwise repeat the report
    ///   for ever, but are not counted.
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
            // The list's spelling, which is also the client's.
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
