/// A version that was withdrawn by name, and so for good: a channel lists its contents never again.
///
/// ```json
/// { "patchId": "web", "version": "2.0.0", "sha256": "…", "serial": 12, "since": "2026-11-23T08:00:00Z" }
/// ```
package struct WithdrawnVersion: Hashable, Sendable {
    package let patchID: PatchID
    /// For people; the contents say what is meant.
    package let version: VersionLabel
    package let sha256: SHA256Digest
    /// Of the first list that names it.
    package let serial: Int
    /// When that list was published.
    package let since: UTCTime

    package init(patchID: PatchID, version: VersionLabel, sha256: SHA256Digest, serial: Int, since: UTCTime) {
        self.patchID = patchID
        self.version = version
        self.sha256 = sha256
        self.serial = serial
        self.since = since
    }

    package var label: Label { Label(patchID: patchID, version: version) }

    package var json: JSON {
        .fields([
            ("patchId", .text(patchID.text)), ("version", .text(version.text)), ("sha256", .text(sha256.hex)),
            ("serial", .integer(serial)), ("since", .text(since.description)),
        ])
    }

    package init(_ fields: Fields) throws(FormatError) {
        self.init(
            patchID: try fields.name("patchId"),
            version: try fields.name("version"),
            sha256: try fields.digest("sha256"),
            serial: try fields.integer("serial", in: 0...(1 << 53 - 1)),
            since: try fields.time("since")
        )
    }

    /// As many releases as it is named in at least.
    package static let leastReleases = 10

    /// Whether a list must name it still: for ten releases, and for as long as the role of a list that offered it held.
    ///
    /// - Parameter validity: how long a role of this channel holds.
    package func isNeeded(inList serial: Int, at time: UTCTime, validity: Duration) -> Bool {
        serial - self.serial < Self.leastReleases || time < since.adding(validity)
    }
}
