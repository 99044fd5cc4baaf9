package import PatchFormat
package import PatchTrust

/// Every check that a verification made, for people line by line and for scripts as rows.
package struct CheckReport: Sendable {
    /// How many checks of one rule are shown where there is one for each file, unless all are asked for.
    package static let shown = 20

    private let records: [CheckRecord]
    /// By key id, in the words of whoever keeps the keys.
    private let names: [SHA256Digest: String]

    package init(_ records: [CheckRecord], names: [SHA256Digest: String] = [:]) {
        self.records = records
        self.names = names
    }

    /// A line a check, in the order in which they were made.
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

    /// All of them, whatever their number.
    package var json: JSON {
        .array(
            records.map { record in
                guard var row = record.json.object else { return record.json }
                row["keyName"] = record.key.flatMap { names[$0] }.map { .text($0) }
                return .object(row)
            }
        )
    }

    /// Most faults name their subject themselves.
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
