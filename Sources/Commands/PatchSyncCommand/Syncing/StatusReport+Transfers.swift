import PatchChoice
import PatchFormat
import PatchSync
import CommandKit

extension StatusReport {
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
