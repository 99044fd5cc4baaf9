/// The rollout settings that the server can change without a release: each version's share up to the signed ceiling, the number of
/// devices that may install it, and whether it is paused.
///
/// A dial never adds, removes or reverts a version.
package struct Dial: Hashable, Sendable {
    package static let format = "patchline-dial-v1"
    package static let headcounts = 0...(1 << 31)

    package struct Row: Hashable, Sendable {
        package let patchID: PatchID
        package let sha256: SHA256Digest
        /// The share in devices of 10,000; the smaller of this and the entry's ceiling applies.
        package let rollout: Int
        package let paused: Bool
        package let reason: String?
        /// How many devices may install the version, each with a place that the server assigned; nil for no such quota (J6).
        package let headcount: Int?

        package init(
            patchID: PatchID,
            sha256: SHA256Digest,
            rollout: Int,
            paused: Bool,
            reason: String?,
            headcount: Int? = nil
        ) {
            self.patchID = patchID
            self.sha256 = sha256
            self.rollout = rollout
            self.paused = paused
            self.reason = reason
            self.headcount = headcount
        }
    }

    package let app: AppID
    package let channel: ChannelName
    package let rows: [Row]
    /// The index of each version's row, because a list looks up every one of its entries.
    private let places: [Key: Int]

    private struct Key: Hashable {
        let patchID: PatchID
        let sha256: SHA256Digest
    }

    /// - Parameter rows: if a version has two rows, the first one counts.
    package init(app: AppID, channel: ChannelName, rows: [Row]) {
        self.app = app
        self.channel = channel
        self.rows = rows
        places = Self.places(of: rows)
    }

    private static func places(of rows: [Row]) -> [Key: Int] {
        Dictionary(rows.enumerated().map { (Key(patchID: $1.patchID, sha256: $1.sha256), $0) }) { first, _ in first }
    }

    package init(_ bytes: [UInt8], named document: String = "dial") throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: Limits.dial), of: document)
        try fields.constant("format", Self.format)
        app = try fields.name("app")
        channel = try fields.name("channel")
        var rows: [Row] = []
        for (index, value) in try fields.array("rows", limit: Limits.patchesInList).enumerated() {
            let row = try Fields(value, of: document, at: "rows[\(index)]")
            rows.append(
                Row(
                    patchID: try row.name("patchId"),
                    sha256: try row.digest("sha256"),
                    rollout: try row.integer("rollout", in: 0...10_000),
                    paused: try row.bool("paused", default: false),
                    reason: try row.optionalString("reason"),
                    headcount: row.has("headcount") ? try row.integer("headcount", in: Self.headcounts) : nil
                )
            )
        }
        places = Self.places(of: rows)
        guard places.count == rows.count else { throw fields.broken("rows", "must not name a version twice") }
        self.rows = rows
    }

    package var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("app", .text(app.text)), ("channel", .text(channel.text)),
            (
                "rows",
                .array(
                    rows.map { row in
                        .fields([
                            ("patchId", .text(row.patchID.text)), ("sha256", .text(row.sha256.hex)),
                            ("rollout", .integer(row.rollout)), ("paused", .bool(row.paused)),
                            ("reason", row.reason.map { .text($0) }),
                            ("headcount", row.headcount.map { .integer($0) }),
                        ])
                    }
                )
            ),
        ])
    }

    package func row(_ patchID: PatchID, _ sha256: SHA256Digest) -> Row? {
        places[Key(patchID: patchID, sha256: sha256)].map { rows[$0] }
    }
}
