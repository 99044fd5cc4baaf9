package import PatchFormat

/// Versions that the last sync left for a network on which bytes cost nothing, until a later one takes them.
package struct PutOffVersions: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        package let version: VersionLabel
        /// Of its transfer, as known then; nil where nobody said.
        package let bytes: Int?

        package init(version: VersionLabel, bytes: Int?) {
            (self.version, self.bytes) = (version, bytes)
        }
    }

    package private(set) var rows: [PatchContent: Row] = [:]

    package init() {}

    package mutating func add(_ content: PatchContent, _ row: Row) {
        rows[content] = row
    }

    package mutating func remove(_ content: PatchContent) {
        rows[content] = nil
    }

    /// Forgets some, where there are more: the next sync tells of them again.
    package mutating func bound(to count: Int) {
        guard rows.count > count else { return }
        let first = rows.sorted { $0.key < $1.key }.prefix(count)
        rows = Dictionary(uniqueKeysWithValues: first.map { ($0.key, $0.value) })
    }
}

extension PutOffVersions {
    package var json: JSON? {
        guard !rows.isEmpty else { return nil }
        return .array(
            rows.sorted { $0.key < $1.key }.map { content, row in
                .fields([
                    ("patchId", .text(content.patchID.text)), ("sha256", .text(content.sha256.hex)),
                    ("version", .text(row.version.text)), ("bytes", row.bytes.map { .integer($0) }),
                ])
            }
        )
    }

    package init(_ rows: [JSON], of document: String) throws(FormatError) {
        for (index, value) in rows.enumerated() {
            let row = try Fields(value, of: document, at: "putOff[\(index)]")
            self.rows[PatchContent(patchID: try row.name("patchId"), sha256: try row.digest("sha256"))] = Row(
                version: try row.name("version"),
                bytes: row.has("bytes") ? try row.integer("bytes", in: 0...(1 << 53 - 1)) : nil
            )
        }
    }
}
