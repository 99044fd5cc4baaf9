package import Gateways
package import PatchFormat
package import PatchServer
package import ServerRecords

/// Reports of clients of JSPatch's platform about one line's packages: devices, each counted once for a version and an outcome.
///
/// The reports are not authenticated, so they are stored separately, and no decision depends on them. A version has one sketch for
/// its successes and one for each error code, and only versions of the signed list have any: forged ids, codes and versions take no
/// more space.
package struct PlatformStatistics: Equatable, Sendable {
    package static let collection = "platform"
    package static let salts = "platform-salt"
    private static let batch = 500

    package let app: AppID
    package let channel: ChannelName
    package let appKey: PlatformAppKey
    package let appVersion: AppVersion
    package let version: LoaderVersion

    package init(
        app: AppID,
        channel: ChannelName,
        appKey: PlatformAppKey,
        appVersion: AppVersion,
        version: LoaderVersion
    ) {
        (self.app, self.channel, self.appKey) = (app, channel, appKey)
        (self.appVersion, self.version) = (appVersion, version)
    }

    static func prefix(_ app: AppID) -> String { "\(app)/" }

    static func prefix(_ app: AppID, _ channel: ChannelName) -> String { "\(app)/\(channel)/" }

    var prefix: String {
        "\(app)/\(channel)/\(appKey)/\(appVersion)/\(RecordKey.digits(version.number))/"
    }

    private static func name(of outcome: PlatformStatistic.Outcome) -> String {
        switch outcome {
        case .succeeded: "succ"
        case .failed(let code): "\(code.rawValue)"
        }
    }

    /// The version and outcome of a record; the outcome is `succ` or a code.
    static func parsed(_ key: RecordKey) throws(RecordError) -> (statistics: PlatformStatistics, outcome: String) {
        let parts = key.name.split(separator: "/").map(String.init)
        guard parts.count == 6, let app = AppID(parts[0]), let channel = ChannelName(parts[1]),
            let appKey = PlatformAppKey(parts[2]), let appVersion = AppVersion(parts[3]),
            let version = Int(parts[4]).flatMap({ LoaderVersion($0) })
        else { throw .malformed(key, rule: "must be named APP/CHANNEL/KEY/APPVERSION/VERSION/OUTCOME") }
        let statistics = PlatformStatistics(
            app: app,
            channel: channel,
            appKey: appKey,
            appVersion: appVersion,
            version: version
        )
        return (statistics, parts[5])
    }

    /// Whether a list has a package of the version now.
    ///
    /// Earlier versions are not counted.
    func isIn(_ rows: [GatewayPackages]) -> Bool {
        rows.contains { row in
            row.line == GatewayPackages.Line(.platform(appKey), appVersion)
                && row.packages.contains { $0.version == version }
        }
    }

    /// Counts a device, unless it is counted already.
    ///
    /// Afterwards: durable.
    package func count(
        _ outcome: PlatformStatistic.Outcome,
        on device: PlatformDeviceID,
        in store: any RecordStore,
        random: @Sendable (Int) -> [UInt8]
    ) async throws(RecordError) {
        let salt = try await salt(in: store, random)
        let key = RecordKey(Self.collection, prefix + Self.name(of: outcome))
        while true {
            let record = try await store.record(key)
            var sketch = try record.map { (record) throws(RecordError) in try Self.sketch(record) } ?? DeviceSketch()
            guard sketch.add(device.text, salt: salt) else { return }
            let change: RecordChange = record.map { .replace($0, with: sketch.json) } ?? .insert(key, sketch.json)
            do throws(RecordError) {
                return try await store.commit([change])
            } catch .conflict {
                continue
            }
        }
    }

    private static func sketch(_ record: Record) throws(RecordError) -> DeviceSketch {
        do throws(FormatError) { return try DeviceSketch(Fields(record.value, of: "the sketch")) } catch {
            throw .malformed(record.key, rule: error.description)
        }
    }

    /// The app's salt, made at its first report.
    ///
    /// With one salt, outcomes can be combined.
    private func salt(in store: any RecordStore, _ random: @Sendable (Int) -> [UInt8]) async throws(RecordError)
        -> [UInt8]
    {
        let key = RecordKey(Self.salts, app.text)
        while true {
            if let record = try await store.record(key) {
                guard case .string(let text) = record.value["salt"], let salt = Hex.bytes(text.text),
                    salt.count == DeviceSketch.saltBytes
                else { throw .malformed(key, rule: "must be 32 hex digits") }
                return salt
            }
            let salt = JSON.fields([("salt", .text(Hex.text(random(DeviceSketch.saltBytes))))])
            do throws(RecordError) { try await store.commit([.insert(key, salt)]) } catch .conflict { continue }
        }
    }

    /// All counts of a channel, the newest version of each app version last.
    package static func counts(
        of app: AppID,
        in channel: ChannelName,
        from store: any RecordStore
    ) async throws(RecordError) -> [PlatformCounts] {
        var sketches: [(of: PlatformStatistics, outcome: String, sketch: DeviceSketch)] = []
        for record in try await all(prefix(app, channel), in: store) {
            let (statistics, outcome) = try parsed(record.key)
            sketches.append((statistics, outcome, try sketch(record)))
        }
        var counts: [PlatformCounts] = []
        for (_, rows) in Dictionary(grouping: sketches, by: \.of.prefix).sorted(by: { $0.key < $1.key }) {
            guard let version = rows.first?.of else { continue }
            let failures = rows.filter { $0.outcome != "succ" }
            counts.append(
                PlatformCounts(
                    line: .init(.platform(version.appKey), version.appVersion),
                    version: version.version,
                    succeeded: rows.first { $0.outcome == "succ" }?.sketch.count ?? 0,
                    failed: failures.reduce(DeviceSketch()) { $0.union($1.sketch) }.count,
                    codes: failures.map { ($0.outcome, $0.sketch.count) }
                )
            )
        }
        return counts
    }

    static func hasAny(of app: AppID, in store: any RecordStore) async throws(RecordError) -> Bool {
        try await !store.records(RecordRange(collection, prefix: prefix(app), after: nil, limit: 1)).isEmpty
    }

    static func all(_ prefix: String, in store: any RecordStore) async throws(RecordError) -> [Record] {
        var (records, last): ([Record], String?) = ([], nil)
        while true {
            let page = try await store.records(RecordRange(collection, prefix: prefix, after: last, limit: batch))
            records += page
            guard page.count == batch else { return records }
            last = page.last?.key.name
        }
    }
}
