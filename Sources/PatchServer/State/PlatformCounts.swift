package import PatchFormat

/// How many devices said of one package of JSPatch's platform that it was installed, and how many that it was not: about, and nobody
/// proves it.
package struct PlatformCounts: Equatable, Sendable {
    package let line: GatewayPackages.Line
    package let version: LoaderVersion
    package let succeeded: Int
    /// With any code.
    package let failed: Int
    /// By code; a device that failed twice may be in two.
    package let codes: [(code: String, devices: Int)]

    package init(
        line: GatewayPackages.Line,
        version: LoaderVersion,
        succeeded: Int,
        failed: Int,
        codes: [(code: String, devices: Int)]
    ) {
        (self.line, self.version, self.succeeded, self.failed) = (line, version, succeeded, failed)
        self.codes = codes
    }

    package static func == (left: PlatformCounts, right: PlatformCounts) -> Bool {
        left.line == right.line && left.version == right.version && left.succeeded == right.succeeded
            && left.failed == right.failed && left.codes.elementsEqual(right.codes, by: ==)
    }

    package var json: JSON {
        .fields([
            ("version", .integer(version.number)), ("succeeded", .integer(succeeded)), ("failed", .integer(failed)),
            ("codes", .fields(codes.map { ($0.code, .integer($0.devices)) })), ("proven", .bool(false)),
            ("exact", .bool(false)),
        ])
    }
}

/// What JSPatch's clients get of a channel on one line, as an operator is shown it.
extension AppListing {
    package struct PackageLine: Equatable, Sendable {
        package let row: GatewayPackages
        /// What the sync file says now, as JSON; nil on a wire without one, or where it is switched off.
        package let told: JSON?
        /// The highest number that can be fetched now.
        package let open: LoaderVersion?
        package var counts: [PlatformCounts] = []

        package var json: JSON {
            .fields([
                ("gateway", .text(row.line.wire.gateway.rawValue)),
                ("appKey", row.line.wire.appKey.map { .text($0.text) }),
                ("appVersion", .text(row.line.appVersion.text)), ("on", .bool(row.isSwitchedOn)),
                ("latest", .integer(row.latest.number)), ("open", open.map { .integer($0.number) }),
                ("told", told), ("reports", counts.isEmpty ? nil : .array(counts.map(\.json))),
            ])
        }
    }

    /// Whether it has a line whose clients report.
    package var takesReports: Bool {
        channels.contains { $0.packages.contains { $0.row.line.wire.gateway == .platform } }
    }
}
