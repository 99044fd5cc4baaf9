/// A version that was withdrawn by name.
///
/// The withdrawal is permanent: the channel never lists its contents again.
///
/// ```json
/// { "patchId": "web", "version": "2.0.0", "sha256": "…", "serial": 12, "since": "2026-11-23T08:00:00Z" }
/// ```
package struct WithdrawnVersion: Hashable, Sendable {
    package let patchID: PatchID
    /// The label shown to people; the digest identifies the version.
    package let version: VersionLabel
    package let sha256: SHA256Digest
    /// The serial of the first list that names it.
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

    /// The smallest number of releases that name the version.
    package static let leastReleases = 10

    /// Whether a list must still name the version: for ten releases, and until a role that offered it has expired.
    ///
    /// - Parameter validity: how long a role of this channel is valid.
    package func isNeeded(inList serial: Int, at time: UTCTime, validity: Duration) -> Bool {
        serial - self.serial < Self.leastReleases || time < since.adding(validity)
    }
}
