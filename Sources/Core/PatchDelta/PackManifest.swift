package import PatchFormat

/// A manifest for packs: its names, which a pack contains, and its fingerprints, which both sides can compute.
package struct PackManifest: Sendable {
    let names: PackNames
    /// The fingerprint of each row.
    package let fingerprints: [Fingerprint]
    private let rows: [AssetPath: Int]

    /// - Parameter source: a manifest that was verified, or that is about to be signed.
    package init(_ source: some ByteSource) throws(PackError) {
        let table = RowTable()
        do throws(FormatError) {
            let rows = JSONRows(of: "assets") { table.take($0) }
            let json = try JSON.document(from: source, named: "manifest", rows: rows)
            if let broken = table.broken { throw broken }
            let fields = try Fields(json, of: "manifest")
            _ = try fields.array("assets", limit: 0)
            var header = fields.object
            header["assets"] = nil
            let paths = Set(table.rows.map(\.path))
            names = PackNames(
                header: header,
                rows: table.rows.map { RowName(path: $0.path, others: $0.others, among: paths) }
            )
        } catch { throw .malformed(error) }
        fingerprints = table.rows.map(\.fingerprint)
        guard fingerprints.count <= Limits.assetsInBundle else { throw .head(.rowCount) }
        rows = Dictionary(names.rows.enumerated().map { ($1.path, $0) }) { first, _ in first }
    }

    package init(_ bytes: [UInt8]) throws(PackError) {
        try self.init(BytesInMemory(bytes))
    }

    package var count: Int { fingerprints.count }

    package func path(of row: Int) -> AssetPath { names.rows[row].path }

    func row(of path: AssetPath) -> Int? { rows[path] }

    /// The manifest in file form.
    package var bytes: [UInt8] { names.manifest(fingerprints) }
}

/// Collects the rows while the manifest is read.
private final class RowTable {
    private(set) var rows: [(path: AssetPath, others: JSONObject, fingerprint: Fingerprint)] = []
    private(set) var broken: FormatError?

    func take(_ row: JSON) {
        guard broken == nil, rows.count <= Limits.assetsInBundle else { return }
        do throws(FormatError) {
            let fields = try Fields(row, of: "manifest", at: "assets[\(rows.count)]")
            let path = try fields.assetPath("path")
            rows.append((path, RowName.others(of: path, fields.object), try fields.fingerprint()))
        } catch { broken = error }
    }
}
