/// The help of a command on one screen, as `--help` prints it.
///
/// A help that fits is printed whole. A longer one is cut to the first paragraph, three examples, and the first sentence of each
/// option. `patchsign help release make` prints the whole text.
package struct HelpSummary: Sendable {
    /// The lines of a screen of 80 columns.
    package static let screen = 50
    private static let columns = 80
    private static let examples = 3
    /// The longest description of an option, two lines of the table.
    private static let longest = 104

    private enum Detail: CaseIterable {
        /// The first sentence of each option.
        case sentences
        /// Only the names of options that several commands share.
        case groupsByName
        /// One line for each option and subcommand.
        case lines
    }

    private let whole: String
    private let command: String

    /// - Parameters:
    ///   - whole: The argument parser's unbroken text.
    ///   - command: The command with its program, such as `patchsign release make`.
    package init(_ whole: String, of command: String) {
        (self.whole, self.command) = (whole, command)
    }

    /// The unbroken text.
    package var text: String {
        guard !Self.fits(whole) else { return whole }
        let sections = HelpSection.sections(of: whole)
        let summaries = Detail.allCases.map { summary(of: sections, $0) }
        return summaries.first(where: Self.fits) ?? summaries[summaries.count - 1]
    }

    private static func fits(_ text: String) -> Bool { HelpText(text).lines(columns: columns).count <= screen }

    private func summary(of sections: [HelpSection], _ detail: Detail) -> String {
        func all(_ kind: HelpSection.Kind) -> [HelpSection] { sections.filter { $0.kind == kind } }
        func shortened(_ kind: HelpSection.Kind) -> [[String]] {
            all(kind).map { [$0.heading] + $0.rows.map { Self.shortened($0, toLine: detail == .lines) } }
        }
        let parts: [[[String]]] = [
            all(.overview).map(\.firstParagraphs),
            all(.examples).map { section in
                [section.heading]
                    + section.rows.filter { $0.hasPrefix("  patch") }.prefix(detail == .lines ? 2 : Self.examples)
            },
            all(.usage).map { [$0.heading] + $0.rows },
            shortened(.arguments),
            shortened(.options),
            detail == .sentences ? shortened(.group) : Self.named(all(.group)),
            detail == .lines ? shortened(.subcommands) : all(.subcommands).map { [$0.heading] + $0.rows },
        ]
        let texts = parts.joined().map { $0.joined(separator: "\n") }
        return (texts + ["In full, with exit codes: `\(fullHelp)`"]).joined(separator: "\n\n")
    }

    /// One section for the options of all groups, with a row for each group.
    private static func named(_ groups: [HelpSection]) -> [[String]] {
        guard !groups.isEmpty else { return [] }
        return [
            ["MORE OPTIONS:"]
                + groups.map { group in
                    let title = "  " + group.heading.dropLast()
                    return title + padding(of: title[...]) + group.names.joined(separator: ", ")
                }
        ]
    }

    private var fullHelp: String {
        let words = command.split(separator: " ")
        return (words.prefix(1) + ["help"] + words.dropFirst()).joined(separator: " ")
    }

    /// A row with the first sentence of its description, and its default if there is room.
    private static func shortened(_ row: String, toLine: Bool) -> String {
        let text = row.drop { $0 == " " }
        guard let gap = text.firstRange(of: "  ") else { return row }
        let label = row.prefix(row.count - text.count) + text[..<gap.lowerBound]
        let sentences = String(text[gap.upperBound...].drop { $0 == " " }).sentences
        guard let first = sentences.first else { return row }
        let rest = sentences.dropFirst().first { $0.hasPrefix("Default: ") || $0.hasPrefix("(default") }
        let description = rest.map { first + " " + $0 } ?? first
        guard toLine else { return label + padding(of: label) + (description.count <= longest ? description : first) }
        // A label with a long value has no room beside it.
        let name = label.count <= HelpText.furthest ? label : label.prefix { $0 != "<" }.dropLast() + " <…>"
        let padded = name + padding(of: name)
        let room = max(0, columns - padded.count)
        return padded + (description.count <= room ? description : first.cut(to: room))
    }

    private static func padding(of label: Substring) -> String {
        String(repeating: " ", count: max(2, HelpText.column - label.count))
    }
}

/// A part of a help text, with its rows unbroken.
struct HelpSection {
    enum Kind {
        case overview
        case examples
        case exitCodes
        case usage
        case arguments
        /// The command's own options.
        case options
        /// Options that several commands share, below their title.
        case group
        case subcommands
    }

    let kind: Kind
    let heading: String
    /// The lines below the heading, with their continuations.
    ///
    /// Only an overview has empty ones.
    private(set) var rows: [String] = []

    static func sections(of text: String) -> [HelpSection] {
        var sections: [HelpSection] = []
        for line in HelpText.joined(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)) {
            if let kind = Kind(line) {
                sections.append(HelpSection(kind: kind, heading: line))
            } else if let last = sections.indices.last {
                sections[last].append(line)
            }
        }
        return sections
    }

    private mutating func append(_ line: String) {
        if kind == .overview {
            rows.append(line)
        } else if line.hasPrefix("        "), let last = rows.indices.last {
            // The parser writes a long description below its option.
            rows[last] += "  " + line.drop { $0 == " " }
        } else if !line.isEmpty {
            rows.append(line)
        }
    }

    /// The names of the section's options.
    var names: [String] { rows.compactMap { $0.split(separator: " ").first.map(String.init) } }

    /// The abstract, and the first two sentences of the paragraph after it.
    var firstParagraphs: [String] {
        let paragraphs = rows.split(separator: "", omittingEmptySubsequences: true).map { $0.joined(separator: " ") }
        return [heading] + (paragraphs.first.map { ["", $0.sentences.prefix(2).joined(separator: " ")] } ?? [])
    }
}

extension HelpSection.Kind {
    /// The kind of section that the line begins, if any.
    init?(_ line: String) {
        if line.hasPrefix("OVERVIEW: ") {
            self = .overview
        } else if line.hasPrefix("USAGE: ") {
            self = .usage
        } else if !line.isHelpHeading {
            return nil
        } else {
            switch line {
            case "EXAMPLES": self = .examples
            case ExitCodes.heading: self = .exitCodes
            case "ARGUMENTS:": self = .arguments
            case "OPTIONS:": self = .options
            default: self = line.hasSuffix("SUBCOMMANDS:") ? .subcommands : .group
            }
        }
    }
}

extension String {
    /// Whole words up to a length, with an ellipsis in place of the others.
    fileprivate func cut(to length: Int) -> String {
        guard count > max(1, length) else { return self }
        let words = prefix(length - 1).split(separator: " ", omittingEmptySubsequences: false).dropLast()
        return words.joined(separator: " ").trimmingSuffix { ",;:(.".contains($0) } + "…"
    }

    private func trimmingSuffix(while matches: (Character) -> Bool) -> String {
        String(reversed().drop(while: matches).reversed())
    }

    /// The sentences, each with its full stop.
    ///
    /// A default in parentheses counts as one.
    fileprivate var sentences: [String] {
        var sentences: [String] = []
        var sentence = ""
        let words = split(separator: " ")
        for (index, word) in words.enumerated() {
            sentence += (sentence.isEmpty ? "" : " ") + word
            let next = words.dropFirst(index + 1).first?.first
            let ends = word.last == "." && word != "e.g." && word.count > 1
            guard ends, next.map({ $0.isUppercase || $0 == "(" || $0 == "`" }) ?? true else { continue }
            sentences.append(sentence)
            sentence = ""
        }
        return sentence.isEmpty ? sentences : sentences + [sentence]
    }
}
