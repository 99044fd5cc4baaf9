package import PatchFormat

/// Shows long work as a line of progress on standard error.
///
/// If standard error is not a terminal, only work of at least 1,000 items is shown.
package func reporter(_ label: String) -> ProgressStart {
    { total in
        guard total > 0, Console.standardError.isTerminal || total >= 1_000 else { return { _ in } }
        let report = ProgressReport(label, total: total, unit: .items)
        return { done in
            report.update(to: done)
            if done >= total { report.finish() }
        }
    }
}
