package import PatchFormat

/// Approximate numbers of devices that reported success or failure of installing one package of JSPatch's platform.
///
/// The reports are not authenticated.
package struct PlatformCounts: Equatable, Sendable {
    package let line: GatewayPackages.Line
    package let version: LoaderVersion
    package let succeeded: Int
    /// The number of devices that failed, with any code.
    package let failed: Int
    /// The failed devices by code; a device that failed twice may be counted in two.
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
