import PatchFormat
import PatchRelease
import CommandKit

/// The content of a release as a table, one row per entry.
struct ContentsTable {
    private let contents: ReleaseContents

    init(_ contents: ReleaseContents) {
        self.contents = contents
    }

    func write(to console: Console) {
        guard !contents.list.entries.isEmpty else { return console.line("it lists nothing") }
        var table = Table([
            "PATCH", "VERSION", "KIND", Table.Column("FILES", .right), Table.Column("BYTES", .right), "SHA-256", "FOR",
        ])
        for entry in contents.list.entries {
            table.add([
                Table.Cell(entry.patchID.text), Table.Cell(entry.version.text), Table.Cell(entry.kind.rawValue),
                Table.Cell(Words.grouped(contents.manifests[entry.label]?.assets.count ?? 1)),
                Table.Cell(Words.grouped(contents.bytes(of: entry))),
                Table.Cell(entry.fingerprint.sha256.hex.prefix(12) + "…"),
                Table.Cell(Words.rules(entry.rules) + (entry.security == nil ? "" : ", security")),
            ])
        }
        table.write(to: console)
        for entry in contents.list.entries {
            if entry.place.isInPages { console.line(printable("place: \(entry.label) \(entry.place)")) }
            for gateway in entry.gateways { console.line("gateway: \(entry.label) for \(gateway.system)'s clients") }
            if let security = entry.security { console.line(printable("security: \(entry.label): \(security)")) }
        }
        for row in contents.list.gateways { console.line(printable("gateway: \(row.line): \(Self.words(row))")) }
    }

    /// The packages of JSPatch's clients, without the effect of a dial.
    private static func words(_ row: GatewayPackages) -> String {
        guard row.isSwitchedOn else { return "switched off after version \(row.latest)" }
        let names = row.scripts.sorted { $0.key < $1.key }.map { "\($0.key) of \($0.value)" }
        guard row.newest == nil else { return "version \(row.latest), with \(names.joined(separator: ", "))" }
        return PackageChange.withdrawn(row.latest, on: row.line.wire)
    }
}
