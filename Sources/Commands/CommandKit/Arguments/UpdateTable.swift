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
        the bytes of the pack, of the signatures beside it, and of the update without a pack, as estimated from the compressed
        forms and 3 kB a request; what comes out smallest: the pack, the pack of the whole bundle, or single objects; and of the
        pack, how many files it brings and how: renamed, made of an old file by putting the new names in, patched, or plain, with
        the last two compressed together (solid) or one by one.
        """
}
