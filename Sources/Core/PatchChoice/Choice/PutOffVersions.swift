package import PatchFormat

/// Versions that the last sync left for an unmetered network.
package typealias PutOffVersions = LeftOutVersions<PutOffRow>

/// The estimated size of a deferred version.
package struct PutOffRow: LeftOutRow {
    package static let field = "putOff"

    package let version: VersionLabel
    /// Of its transfer, as estimated then; nil if unknown.
    package let bytes: Int?

    package init(version: VersionLabel, bytes: Int?) {
        (self.version, self.bytes) = (version, bytes)
    }

    package init(version: VersionLabel, _ fields: Fields) throws(FormatError) {
        self.version = version
        bytes = fields.has("bytes") ? try fields.integer("bytes", in: 0...(1 << 53 - 1)) : nil
    }

    package var members: [(String, JSON?)] { [("bytes", bytes.map { .integer($0) })] }
}
