/// Help text for people: paragraphs are filled, and table columns are indented, to a width.
///
/// The input is the argument parser's unbroken text. Successive unindented lines are a paragraph, regardless of the line breaks in
/// the source. An indented line is a row, which continues in the next line if it ends in `\`.
package struct HelpText: Sendable {
    /// The second column of the parser's own tables.
    static let column = 26
    /// The last possible second column.
    ///
    /// Text further to the right would not fit.
    static let furthest = 40
    /// The widest line.
    ///
    /// Prose in longer lines is hard to read.
    package static let widest = 100

    private let source: [String]

    package init(_ source: String) {
        self.source = Self.joined(source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }

    /// - Parameter columns: The longest line, except for a longer single word.
    package func lines(columns: Int) -> [String] {
        var lines: [String] = []
        var paragraph: [String] = []
        var isTable = false
        func endParagraph() {
            guard !paragraph.isEmpty else { return }
            lines += filled(paragraph.joined(separator: " "), hang: 0, columns)
            paragraph = []
        }
        for line in source {
            if line.first == " " {
                endParagraph()
                lines += isTable ? tableRow(line, columns) : row(line, columns)
            } else if line.isEmpty || line.isHelpHeading || line.hasPrefix("USAGE: ") {
                endParagraph()
                isTable = line.isHelpHeading && line.hasSuffix(":")
                lines += line.hasPrefix("USAGE: ") ? filled(line, hang: 7, columns) : [line]
            } else {
                paragraph.append(line)
            }
        }
        endParagraph()
        return lines
    }

    // MARK: Rows

    /// Joins a command with its continuation lines.
    static func joined(_ lines: [String]) -> [String] {
        var joined: [String] = []
        var continues = false
        for line in lines {
            let text = line.hasSuffix(" \\") ? String(line.dropLast(2)) : line
            if continues { joined[joined.count - 1] += " " + text.drop { $0 == " " } } else { joined.append(text) }
            continues = line.hasSuffix(" \\")
        }
        return joined
    }

    /// Formats a row of options, arguments or subcommands.
    private func tableRow(_ line: String, _ columns: Int) -> [String] {
        let label = line.prefix(Self.column)
        // The parser indents the text of an option below it.
        if label.allSatisfy({ $0 == " " }) || line.hasPrefix("        ") {
            return hung(String(repeating: " ", count: Self.column), String(line.drop { $0 == " " }), columns)
        }
        guard line.count > Self.column, label.last == " " else { return row(line, columns) }
        return hung(String(label), String(line.dropFirst(Self.column)), columns)
    }

    private func row(_ line: String, _ columns: Int) -> [String] {
        let indent = line.prefix { $0 == " " }
        let text = line.dropFirst(indent.count)
        guard let gap = text.firstRange(of: "  ") else {
            if text.isCommand { return command(text, String(indent), columns) }
            return hung(String(indent), String(text), columns)
        }
        let (label, rest) = (text[..<gap.lowerBound], text[gap.upperBound...].drop { $0 == " " })
        guard text.isCommand else {
            return hung(String(line.dropLast(rest.count)), String(rest), columns)
        }
        if line.columns <= columns { return [line] }
        return command(label, String(indent), columns) + filled(indent + "    " + rest, hang: indent.count + 4, columns)
    }

    /// Formats a command line so that it can still be pasted after it is broken.
    private func command(_ text: Substring, _ indent: String, _ columns: Int) -> [String] {
        var words: [String] = []
        for word in text.split(separator: " ") {
            // Keep an option and its value together.
            if let last = words.last, last.hasPrefix("--"), !last.contains(" "), !word.hasPrefix("-") {
                words[words.count - 1] += " " + word
            } else {
                words.append(String(word))
            }
        }
        let lines = broken(words: words, indent, indent + "    ", columns - 2)
        return lines.dropLast().map { $0 + " \\" } + lines.suffix(1)
    }

    private func hung(_ label: String, _ text: String, _ columns: Int) -> [String] {
        guard label.columns <= Self.furthest else {
            return [label.trimmingEnd] + filled(String(repeating: " ", count: 6) + text, hang: 6, columns)
        }
        return filled(label + text, hang: label.columns, columns)
    }

    // MARK: Filling

    /// Breaks text into lines of whole words.
    ///
    /// The last line never has a single word.
    private func filled(_ text: String, hang: Int, _ columns: Int) -> [String] {
        // The blanks before the hang are kept, because they are part of the label.
        let label = text.prefix(hang)
        let words = text.dropFirst(hang).split(separator: " ").map(String.init)
        return broken(words: words, String(label), String(repeating: " ", count: hang), columns)
    }

    private func broken(words: [String], _ first: String, _ next: String, _ columns: Int) -> [String] {
        var lines: [[String]] = [[]]
        var room = columns - first.columns
        for word in words {
            let needed = word.columns + (lines[lines.count - 1].isEmpty ? 0 : 1)
            if needed <= room || lines[lines.count - 1].isEmpty {
                lines[lines.count - 1].append(word)
                room -= needed
            } else {
                lines.append([word])
                room = columns - next.columns - word.columns
            }
        }
        if lines.count > 1, lines[lines.count - 1].count == 1, lines[lines.count - 2].count > 2,
            let moved = lines[lines.count - 2].popLast()
        {
            lines[lines.count - 1].insert(moved, at: 0)
        }
        return lines.enumerated().map { ($0 == 0 ? first : next) + $1.joined(separator: " ") }
    }
}

extension String {
    /// Whether the line is a heading: `EXIT CODES`, `OPTIONS:`.
    var isHelpHeading: Bool {
        let name = hasSuffix(":") ? dropLast() : self[...]
        return name.count > 2 && name.allSatisfy { $0.isASCII && $0.isUppercase || $0 == " " }
    }

    fileprivate var trimmingEnd: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}

extension Substring {
    fileprivate var isCommand: Bool {
        ["patchsign ", "patchsrv ", "patchsync "].contains { hasPrefix($0) }
    }
}
