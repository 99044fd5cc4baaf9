package import PatchFormat

/// Why a version does not fit on a device's disk.
package struct RoomWait: Equatable, Sendable {
    /// Bytes that the version still needs on the disk.
    package let needs: Int
    package let free: Int
    /// Bytes of ``free`` that downloads leave to others.
    package let reserve: Int

    package init(needs: Int, free: Int, reserve: Int) {
        (self.needs, self.free, self.reserve) = (needs, free, reserve)
    }
}

extension RoomWait: CustomStringConvertible {
    /// Follows the version's label.
    package var description: String {
        "needs \(Self.text(needs)) and \(Self.text(free)) are free (\(Self.text(reserve)) are kept in reserve)"
    }

    /// As in `52.7 MB`.
    private static func text(_ bytes: Int) -> String {
        let units = ["kB", "MB", "GB", "TB", "PB"]
        var (tenths, unit) = (bytes / 100, 0)
        while tenths >= 9_999, unit < units.count - 1 { (tenths, unit) = (tenths / 1_000, unit + 1) }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}

/// Versions that the last sync refused for lack of room.
package typealias RoomWaits = LeftOutVersions<RoomWaitRow>

/// The bytes that a refused version needs.
package struct RoomWaitRow: LeftOutRow {
    package static let field = "noRoom"

    package let version: VersionLabel
    package let needs: Int

    package init(version: VersionLabel, needs: Int) {
        (self.version, self.needs) = (version, needs)
    }

    package init(version: VersionLabel, _ fields: Fields) throws(FormatError) {
        self.version = version
        needs = try fields.integer("needs", in: 0...(1 << 53 - 1))
    }

    package var members: [(String, JSON?)] { [("needs", .integer(needs))] }
}
