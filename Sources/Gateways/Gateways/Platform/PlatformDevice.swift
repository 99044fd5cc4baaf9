package import PatchFormat

/// The state that a JSPatch platform client stores for a device, across app versions: its draw and its reports.
package struct PlatformDevice: Equatable, Sendable {
    private static let document = "record of the platform's client"
    /// The maximum size in bytes: all reports, with the longest app versions.
    package static let limit = 200 * (Limits.platformReports + 1)

    package let draw: PlatformDraw
    package var reports: PlatformReports

    package init(draw: PlatformDraw, reports: PlatformReports = PlatformReports()) {
        self.draw = draw
        self.reports = reports
    }

    /// Reads ``bytes``.
    package init(_ bytes: [UInt8]) throws(FormatError) {
        let fields = try Fields(JSON.document(bytes, named: Self.document, limit: Self.limit), of: Self.document)
        let number = try fields.integer("draw", in: PlatformDraw.range)
        guard let draw = PlatformDraw(number) else { preconditionFailure("a number in its range is not valid") }
        var reports: [PlatformReports.Report] = []
        for (index, row) in try fields.array("reports", limit: Limits.platformReports).enumerated() {
            reports.append(try .init(Fields(row, of: Self.document, at: "reports[\(index)]")))
        }
        self.init(draw: draw, reports: PlatformReports(reports))
    }

    package var bytes: [UInt8] {
        JSON.fields([("draw", .integer(draw.number)), ("reports", .array(reports.reports.map(\.json)))]).canonicalBytes
    }
}

extension PlatformReports.Report {
    fileprivate init(_ fields: Fields) throws(FormatError) {
        guard let appVersion = AppVersion(try fields.string("appVersion")) else {
            throw fields.broken("appVersion", AppVersion.rule)
        }
        guard let version = LoaderVersion(try fields.integer("version", in: LoaderVersion.range)) else {
            throw fields.broken("version", LoaderVersion.rule)
        }
        var outcome = PlatformStatistic.Outcome.succeeded
        if fields.has("code") {
            guard let code = PlatformError.Code(rawValue: try fields.integer("code", in: PlatformError.Code.range))
            else {
                preconditionFailure("a code between the first and the last is not valid")
            }
            outcome = .failed(code)
        }
        self.init(
            PlatformStatistic(LoaderPlace(appVersion, version), outcome),
            isAcknowledged: try fields.bool("acknowledged")
        )
    }

    fileprivate var json: JSON {
        var code: JSON?
        if case .failed(let found) = statistic.outcome { code = .integer(found.rawValue) }
        return .fields([
            ("acknowledged", .bool(isAcknowledged)), ("appVersion", .text(statistic.place.appVersion.text)),
            ("code", code), ("version", .integer(statistic.place.version.number)),
        ])
    }
}
