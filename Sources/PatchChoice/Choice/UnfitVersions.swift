package import PatchFormat

/// Bundles whose manifest showed that they fit another native part than this device's, so that it is not fetched again.
package struct UnfitVersions: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        package let version: VersionLabel
        /// For which the manifest was judged.
        package let platform: Platform
        /// The hash that it names for that platform; nil when it names none.
        package let needs: String?

        package init(version: VersionLabel, platform: Platform, needs: String?) {
            self.version = version
            self.platform = platform
            self.needs = needs.map { String($0.unicodeScalars.prefix(Self.longestNeed)) }
        }

        /// In Unicode scalars; what a manifest names may be longer, and nobody compares it.
        private static let longestNeed = 128
    }

    package private(set) var rows: [PatchContent: Row] = [:]

    package init() {}

    package func contains(_ content: PatchContent, for platform: Platform) -> Bool {
        rows[content]?.platform == platform
    }

    package mutating func add(_ content: PatchContent, _ row: Row) {
        rows[content] = row
    }

    package mutating func merge(_ others: UnfitVersions) {
        rows.merge(others.rows) { $1 }
    }

    /// Forgets some, where there are more: their manifests are fetched again.
    package mutating func bound(to count: Int) {
        guard rows.count > count else { return }
        let first = rows.sorted { $0.key < $1.key }.prefix(count)
        rows = Dictionary(uniqueKeysWithValues: first.map { ($0.key, $0.value) })
    }

    /// What is not listed any more, or was judged for another native part, is forgotten.
    package mutating func keep(only listed: Set<PatchContent>, for platform: Platform?) {
        rows = rows.filter { listed.contains($0.key) && $0.value.platform == platform }
    }
}

extension UnfitVersions {
    package var json: JSON? {
        guard !rows.isEmpty else { return nil }
        return .array(
            rows.sorted { $0.key < $1.key }.map { content, row in
                .fields([
                    ("patchId", .text(content.patchID.text)), ("sha256", .text(content.sha256.hex)),
                    ("version", .text(row.version.text)), ("platform", .text(row.platform.name)),
                    ("compatibility", .text(row.platform.compatibility)), ("needs", row.needs.map { .text($0) }),
                ])
            }
        )
    }

    package init(_ rows: [JSON], of document: String) throws(FormatError) {
        for (index, value) in rows.enumerated() {
            let row = try Fields(value, of: document, at: "unfit[\(index)]")
            guard
                let platform = Platform(
                    name: try row.string("platform"),
                    compatibility: try row.string("compatibility")
                )
            else { throw row.broken("platform", Platform.rule) }
            self.rows[PatchContent(patchID: try row.name("patchId"), sha256: try row.digest("sha256"))] = Row(
                version: try row.name("version"),
                platform: platform,
                needs: try row.optionalString("needs")
            )
        }
    }
}
