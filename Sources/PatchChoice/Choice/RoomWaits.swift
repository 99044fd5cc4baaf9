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

/// Versions that the last sync refused for lack of room, with the bytes that each needs.
package struct RoomWaits: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        package let version: VersionLabel
        package let needs: Int

        package init(version: VersionLabel, needs: Int) {
            (self.version, self.needs) = (version, needs)
        }
    }

    package private(set) var rows: [PatchContent: Row] = [:]

    package init() {}

    package mutating func add(_ content: PatchContent, _ row: Row) {
        rows[content] = row
    }

    /// Forgets some if there are more; the next sync finds them again.
    package mutating func bound(to count: Int) {
        guard rows.count > count else { return }
        let first = rows.sorted { $0.key < $1.key }.prefix(count)
        rows = Dictionary(first.map { ($0.key, $0.value) }) { first, _ in first }
    }
}

extension RoomWaits {
    package var json: JSON? {
        guard !rows.isEmpty else { return nil }
        return .array(
            rows.sorted { $0.key < $1.key }.map { content, row in
                .fields([
                    ("patchId", .text(content.patchID.text)), ("sha256", .text(content.sha256.hex)),
                    ("version", .text(row.version.text)), ("needs", .integer(row.needs)),
                ])
            }
        )
    }

    package init(_ rows: [JSON], of document: String) throws(FormatError) {
        for (index, value) in rows.enumerated() {
            let row = try Fields(value, of: document, at: "noRoom[\(index)]")
            self.rows[PatchContent(patchID: try row.name("patchId"), sha256: try row.digest("sha256"))] = Row(
                version: try row.name("version"),
                needs: try row.integer("needs", in: 0...(1 << 53 - 1))
            )
        }
    }
}
