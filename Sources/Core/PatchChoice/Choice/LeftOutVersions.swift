package import PatchFormat

/// Why one version was left out by a sync, as the state file has it.
package protocol LeftOutRow: Equatable, Sendable {
    /// The field of the state file.
    static var field: String { get }
    var version: VersionLabel { get }
    /// Besides the content and the version.
    var members: [(String, JSON?)] { get }

    init(version: VersionLabel, _ fields: Fields) throws(FormatError)
}

/// Versions that the last sync left out, each with the reason, until a later sync decides anew.
package struct LeftOutVersions<Reason: LeftOutRow>: Equatable, Sendable {
    package typealias Row = Reason

    package private(set) var rows: [PatchContent: Row] = [:]

    package init() {}

    package mutating func add(_ content: PatchContent, _ row: Row) {
        rows[content] = row
    }

    package mutating func remove(_ content: PatchContent) {
        rows[content] = nil
    }

    package mutating func merge(_ others: Self) {
        rows.merge(others.rows) { $1 }
    }

    package mutating func keep(where isKept: (PatchContent, Row) -> Bool) {
        rows = rows.filter { isKept($0.key, $0.value) }
    }

    /// Forgets some if there are more; the next sync finds them again.
    package mutating func bound(to count: Int) {
        guard rows.count > count else { return }
        let first = rows.sorted { $0.key < $1.key }.prefix(count)
        rows = Dictionary(first.map { ($0.key, $0.value) }) { first, _ in first }
    }
}

extension LeftOutVersions {
    /// Nil if there are none.
    package var json: JSON? {
        guard !rows.isEmpty else { return nil }
        return .array(
            rows.sorted { $0.key < $1.key }.map { content, row in
                .fields(
                    [
                        ("patchId", .text(content.patchID.text)), ("sha256", .text(content.sha256.hex)),
                        ("version", .text(row.version.text)),
                    ] + row.members
                )
            }
        )
    }

    package init(_ rows: [JSON], of document: String) throws(FormatError) {
        for (index, value) in rows.enumerated() {
            let row = try Fields(value, of: document, at: "\(Row.field)[\(index)]")
            let content = PatchContent(patchID: try row.name("patchId"), sha256: try row.digest("sha256"))
            self.rows[content] = try Row(version: try row.name("version"), row)
        }
    }
}
