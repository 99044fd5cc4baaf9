package import PatchFormat

/// Why a sync left out one version, as written in the state file.
package protocol ExcludedRow: Equatable, Sendable {
    /// The field of the state file.
    static var field: String { get }
    var version: VersionLabel { get }
    /// The members besides the content and the version.
    var members: [(String, JSON?)] { get }

    init(version: VersionLabel, _ fields: Fields) throws(FormatError)
}

/// Versions that the last sync left out, each with the reason, until a later sync decides again.
package struct ExcludedVersions<Reason: ExcludedRow>: Equatable, Sendable {
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

    /// Removes rows beyond the limit.
    ///
    /// The next sync finds those versions again.
    package mutating func bound(to count: Int) {
        guard rows.count > count else { return }
        let first = rows.sorted { $0.key < $1.key }.prefix(count)
        rows = Dictionary(first.map { ($0.key, $0.value) }) { first, _ in first }
    }
}

extension ExcludedVersions {
    /// The rows, or nil if there are none.
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

/// Bundles whose manifest requires another native part than this device's.
///
/// The manifest is not downloaded again.
package typealias UnfitVersions = ExcludedVersions<UnfitRow>

/// The native part that an incompatible version was checked against.
package struct UnfitRow: ExcludedRow {
    package static let field = "unfit"

    package let version: VersionLabel
    /// The device's native part when the manifest was checked.
    package let platform: Platform
    /// The hash that the manifest lists for that platform, or nil if it lists none.
    package let needs: String?

    package init(version: VersionLabel, platform: Platform, needs: String?) {
        self.version = version
        self.platform = platform
        self.needs = needs.map { String($0.unicodeScalars.prefix(Self.longestNeed)) }
    }

    package init(version: VersionLabel, _ fields: Fields) throws(FormatError) {
        guard
            let platform = Platform(
                name: try fields.string("platform"),
                compatibility: try fields.string("compatibility")
            )
        else { throw fields.broken("platform", Platform.rule) }
        self.init(version: version, platform: platform, needs: try fields.optionalString("needs"))
    }

    package var members: [(String, JSON?)] {
        [
            ("platform", .text(platform.name)), ("compatibility", .text(platform.compatibility)),
            ("needs", needs.map { .text($0) }),
        ]
    }

    /// The maximum number of Unicode scalars.
    ///
    /// A longer hash in a manifest matches no device.
    private static let longestNeed = 128
}

extension UnfitVersions {
    package func contains(_ content: PatchContent, for platform: Platform) -> Bool {
        rows[content]?.platform == platform
    }

    /// Removes versions that are no longer listed, or were checked against another native part.
    package mutating func keep(only listed: Set<PatchContent>, for platform: Platform?) {
        keep { listed.contains($0) && $1.platform == platform }
    }
}

/// Versions that the last sync deferred to an unmetered network.
package typealias DeferredVersions = ExcludedVersions<DeferredRow>

/// The estimated size of a deferred version.
package struct DeferredRow: ExcludedRow {
    package static let field = "putOff"

    package let version: VersionLabel
    /// The estimated bytes of its download at that time, or nil if unknown.
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

/// Why a version does not fit on a device's disk.
package struct SpaceShortage: Equatable, Sendable {
    /// Bytes that the version still needs on the disk.
    package let needs: Int
    package let free: Int
    /// The bytes of ``free`` that downloads must leave unused.
    package let reserve: Int

    package init(needs: Int, free: Int, reserve: Int) {
        (self.needs, self.free, self.reserve) = (needs, free, reserve)
    }
}

extension SpaceShortage: CustomStringConvertible {
    /// The text that follows the version's label.
    package var description: String {
        "needs \(Self.text(needs)), but \(Self.text(free)) are free (\(Self.text(reserve)) are kept in reserve)"
    }

    /// A size such as `52.7 MB`.
    private static func text(_ bytes: Int) -> String {
        let units = ["kB", "MB", "GB", "TB", "PB"]
        var (tenths, unit) = (bytes / 100, 0)
        while tenths >= 9_999, unit < units.count - 1 { (tenths, unit) = (tenths / 1_000, unit + 1) }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}

/// Versions that the last sync did not download for lack of disk space.
package typealias SpaceShortages = ExcludedVersions<SpaceShortageRow>

/// The bytes that such a version needs.
package struct SpaceShortageRow: ExcludedRow {
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
