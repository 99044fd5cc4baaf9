package import PatchFormat
package import PatchTrust

/// All checks of a verification, as lines for people and as rows for scripts.
package struct CheckReport: Sendable {
    /// The most checks of one rule that are shown, for rules with one check for each file, unless all are requested.
    package static let shown = 20

    private let records: [CheckRecord]
    /// The names that the owner of the keys chose, by key id.
    private let names: [SHA256Digest: String]

    package init(_ records: [CheckRecord], names: [SHA256Digest: String] = [:]) {
        self.records = records
        self.names = names
    }

    /// Returns one line for each check, in the order of the checks.
    package func lines(all: Bool) -> [String] {
        var counts: [CheckRecord.Rule: Int] = [:]
        var lines: [String] = []
        for record in records {
            counts[record.rule, default: 0] += 1
            let isShown =
                all || !record.holds || !record.rule.isOfEachFile || counts[record.rule, default: 0] <= Self.shown
            if isShown { lines.append(line(record)) }
        }
        guard !all else { return lines }
        for rule in CheckRecord.Rule.allCases where rule.isOfEachFile {
            let hidden = records.filter { $0.rule == rule && $0.holds }.count - Self.shown
            if hidden > 0 { lines.append("✓ and \(Words.grouped(hidden)) more: \(rule.rawValue) (--all shows them)") }
        }
        return lines
    }

    package func write(to console: Console, all: Bool) {
        for line in lines(all: all) { console.line(line) }
    }

    /// All checks, without a limit.
    package var json: JSON {
        .array(
            records.map { record in
                guard var row = record.json.object else { return record.json }
                row["keyName"] = record.key.flatMap { names[$0] }.map { .text($0) }
                return .object(row)
            }
        )
    }

    /// Returns the fault with its subject.
    ///
    /// Most faults already name it.
    private func fault(of record: CheckRecord) -> String {
        let fault = record.fault ?? ""
        return fault.hasPrefix("\(record.subject): ") ? fault : "\(record.subject): \(fault)"
    }

    private func line(_ record: CheckRecord) -> String {
        var line = record.holds ? "✓ \(record.subject): \(record.rule.rawValue)" : "✗ \(fault(of: record))"
        if let key = record.key {
            line += ", by \(names[key].map { "\($0) " } ?? "")key \(key.hex.prefix(12))…"
        }
        return printable(line)
    }
}
