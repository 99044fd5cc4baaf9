package import PatchDelta
import PatchFormat

extension Table {
    /// What updates cost, a row for each.
    package init(of steps: [UpdateStep]) {
        self.init([
            "patch", "from", "to", Column("pack", .right), Column("signatures", .right), Column("without", .right),
            "method", Column("files", .right), "how",
        ])
        for step in steps {
            add([
                "\(step.patchID)", "\(step.base)", "\(step.version)",
                Cell(step.packBytes.map { "\(ByteText($0))" } ?? "-"), "\(ByteText(step.signatureBytes))",
                "\(ByteText(step.otherwise))", "\(step.method.words)",
                Cell(step.summary.map { Words.grouped($0.files) } ?? "-"), Cell(step.summary?.words ?? "-"),
            ])
        }
    }

    /// What the columns of ``init(of:)`` are, for help texts.
    package static let updateColumns = """
        the bytes of the pack, of its signatures, and of the update without a pack (estimated from the compressed forms and 3 kB
        a request); the smallest of them: the pack, the pack of the whole bundle, or single objects; the pack's number of files
        by method: renamed, made from an old file by replacing names, patched, or plain, with the last two compressed together
        (solid) or one by one.
        """
}
