package import PatchDelta
import PatchFormat

extension Table {
    /// A table of the sizes of updates, with a row for each.
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

    /// The meaning of the columns of ``init(of:)``, for help texts.
    package static let updateColumns = """
        bytes of the pack, of its signatures and without a pack (estimated from compressed forms and 3 kB a request); the smallest
        method (the pack, the pack of the whole bundle, or single objects); the number of files in the pack, and how they are
        packed: renamed, made from an old file with the new names put in, patched, or plain. The last two are compressed
        together (solid) or one by one.
        """
}
