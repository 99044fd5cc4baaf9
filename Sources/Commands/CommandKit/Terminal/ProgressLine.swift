import PatchFormat

/// The progress of long work, and its line of text.
package struct ProgressLine: Equatable, Sendable {
    package enum Unit: Sendable { case items, bytes }

    /// The name of the work: "Downloading web 2.0.0".
    package let label: String
    package let unit: Unit
    /// The size of the work in `unit`, or nil if unknown.
    package let total: Int?
    package var completed = 0
    package var elapsed = Duration.zero

    package init(_ label: String, total: Int?, unit: Unit) {
        self.label = printable(label)
        self.total = total
        self.unit = unit
    }

    /// 0 to 100, rounded down.
    ///
    /// 100 is shown only when all is complete.
    package var percent: Int? {
        guard let total else { return nil }
        return total <= 0 ? 100 : Int(Double(min(max(completed, 0), total)) / Double(total) * 100)
    }

    /// The line on a terminal, at most `console.width - 1` columns.
    ///
    /// The least important parts are omitted first.
    ///
    /// `Downloading  [########........]  52 %  1.2 MB of 2.3 MB  410 kB/s`
    package func drawn(on console: Console) -> String {
        let limit = console.width - 1
        let counts = [percent.map { "\($0) %" }, count].compactMap(\.self)
        let bare = ([label] + counts).joined(separator: "  ")
        let full = ([label] + counts + [rate].compactMap(\.self)).joined(separator: "  ")

        guard full.columns <= limit else {
            return (bare.columns <= limit ? bare : shortened(counts, limit))
        }
        let room = limit - full.columns - 4
        guard let percent, room >= ProgressLine.narrowestBar else { return full }

        let length = min(room, ProgressLine.widestBar)
        let filled = length * percent / 100
        let bar =
            "[" + console.styled(String(repeating: "#", count: filled), .cyan)
            + console.styled(String(repeating: ".", count: length - filled), .dim) + "]"
        return label + "  " + bar + full.dropFirst(label.count)
    }

    /// The line for a file: `Downloading: 52 %, 1.2 MB of 2.3 MB`.
    package var plain: String {
        "\(label): " + [percent.map { "\($0) %" }, count].compactMap(\.self).joined(separator: ", ")
    }

    /// The last line: `Downloading: done, 2.3 MB in 4.2 s`.
    package var summary: String {
        "\(label): done, \(text(completed)) in \(DurationText(elapsed))"
    }

    // MARK: Parts

    private static let narrowestBar = 10
    private static let widestBar = 30

    private var count: String {
        total.map { "\(text(completed)) of \(text($0))" } ?? text(completed)
    }

    private func shortened(_ counts: [String], _ limit: Int) -> String {
        let tail = counts.map { "  " + $0 }.joined()
        guard tail.columns + 4 <= limit else { return counts.first?.truncated(toColumns: limit) ?? "" }
        return label.truncated(toColumns: limit - tail.columns) + tail
    }

    /// The average rate so far, or nil before there is one.
    private var rate: String? {
        let seconds = elapsed / .seconds(1)
        guard seconds > 0, completed > 0 else { return nil }
        let perSecond = Double(completed) / seconds
        guard perSecond < 1e15 else { return nil }
        switch unit {
        case .bytes: return "\(ByteText(Int(perSecond)))/s"
        case .items: return "\(threeDigits(Int(perSecond * 10), per: 10))/s"
        }
    }

    private func text(_ count: Int) -> String {
        switch unit {
        case .bytes: "\(ByteText(count))"
        case .items: Words.grouped(count)
        }
    }
}
