import PatchChoice
import PatchFormat
import PatchSync
import Terminal

extension StatusReport {
    /// From when on what waits may run.
    var pendingActivation: ActivationTime? {
        if case .pending(_, let next) = machine.state { next.activates } else { nil }
    }

    /// What could not be fetched, and until when it is left alone.
    var transfersJSON: JSON {
        .array(
            transfers.counts.sorted { $0.key < $1.key }.map { content, count in
                .fields([
                    ("patchId", .text(content.patchID.text)), ("version", .text(count.version.text)),
                    ("failures", .integer(count.failures)), ("until", count.until.map { .text($0.description) }),
                ])
            }
        )
    }

    /// What is made for another native part.
    var unfitJSON: JSON {
        .array(
            unfit.rows.sorted { $0.key < $1.key }.map { content, row in
                .fields([
                    ("patchId", .text(content.patchID.text)), ("version", .text(row.version.text)),
                    ("platform", .text(row.platform.name)), ("compatibility", .text(row.platform.compatibility)),
                    ("needs", row.needs.map { .text($0) }),
                ])
            }
        )
    }

    func printTransfers(to out: Console) {
        for (content, count) in transfers.counts.sorted(by: { $0.key < $1.key }) {
            let next = count.until.map { "next try after \($0)" } ?? "the next sync tries again"
            out.line("\(content.patchID) \(count.version): could not be fetched \(count.failures) times; \(next)")
        }
        for (content, row) in unfit.rows.sorted(by: { $0.key < $1.key }) {
            let needs = row.needs.map { "made for \(row.platform.name) \(printable($0))" }
            out.line(
                "\(content.patchID) \(row.version): "
                    + (needs ?? "not made for \(row.platform.name)")
                    + "; this device is \(row.platform.name) \(row.platform.compatibility)"
            )
        }
    }
}
