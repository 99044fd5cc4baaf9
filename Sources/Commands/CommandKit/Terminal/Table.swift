/// Rows under headings, in aligned columns.
///
/// On a terminal, the widest columns are cut until a row fits the width. Elsewhere nothing is cut, because a program may read the
/// output. Cells are made ``printable(_:)`` here.
package struct Table: Sendable {
    package struct Column: Sendable, ExpressibleByStringLiteral {
        package enum Alignment: Sendable { case left, right }

        package let title: String
        package let alignment: Alignment

        package init(_ title: String, _ alignment: Alignment = .left) {
            self.title = title
            self.alignment = alignment
        }

        package init(stringLiteral title: String) { self.init(title) }
    }

    package struct Cell: Sendable, ExpressibleByStringInterpolation {
        package let text: String
        package let style: Style?

        package init(_ text: some StringProtocol, _ style: Style? = nil) {
            self.text = printable(String(text))
            self.style = style
        }

        package init(stringLiteral text: String) { self.init(text) }
    }

    private let columns: [Column]
    private var rows: [[Cell]] = []

    package init(_ columns: [Column], rows: [[Cell]] = []) {
        self.columns = columns
        for row in rows { add(row) }
    }

    /// Adds a row.
    ///
    /// Missing cells are empty.
    package mutating func add(_ row: [Cell]) {
        precondition(row.count <= columns.count, "a row has no more cells than the table has columns")
        rows.append(row + Array(repeating: "", count: columns.count - row.count))
    }

    /// Returns the table as lines without line feeds, headings first.
    package func lines(on console: Console) -> [String] {
        let head = columns.map { Cell($0.title, .bold) }
        let widths = fitted(naturalWidths([head] + rows), to: console.isTerminal ? console.width : .max)
        return ([head] + rows).map { line($0, widths, on: console) }
    }

    package func write(to console: Console) {
        console.write(lines(on: console).map { $0 + "\n" }.joined())
    }

    // MARK: Layout

    private static let gap = 2
    /// The smallest width of a cut column, so that a row in a very narrow terminal wraps and remains readable.
    private static let narrowest = 8

    private func naturalWidths(_ rows: [[Cell]]) -> [Int] {
        columns.indices.map { index in rows.map { $0[index].text.columns }.max() ?? 0 }
    }

    private func fitted(_ natural: [Int], to limit: Int) -> [Int] {
        var widths = natural
        var excess = widths.reduce(Table.gap * max(0, columns.count - 1), +) - limit
        while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }) {
            guard widths[widest] > Table.narrowest else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private func line(_ row: [Cell], _ widths: [Int], on console: Console) -> String {
        var line = ""
        var blanks = 0
        for (index, cell) in row.enumerated() {
            let text = cell.text.truncated(toColumns: widths[index])
            let room = widths[index] - text.columns
            if columns[index].alignment == .right { blanks += room }
            if !text.isEmpty {
                // Blanks are written only before further text, so that no line ends in one.
                line += String(repeating: " ", count: blanks) + (cell.style.map { console.styled(text, $0) } ?? text)
                blanks = 0
            }
            if columns[index].alignment == .left { blanks += room }
            blanks += Table.gap
        }
        return line
    }
}
