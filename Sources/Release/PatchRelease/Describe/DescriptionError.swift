package import PatchFormat

/// A broken rule in a release description, with its file, line and field.
package struct DescriptionError: Error, Equatable, Sendable {
    package let file: String
    /// Line number from 1, if known.
    package let line: Int?
    /// `patches[0].version`; empty for the file as a whole.
    package let field: String
    /// The broken rule.
    ///
    /// If it begins with a colon, it is a complete sentence.
    package let rule: String

    package init(_ file: String, line: Int? = nil, field: String = "", rule: String) {
        self.file = file
        self.line = line
        self.field = field
        self.rule = rule
    }

    /// - Parameter lines: The line of each field.
    init(_ error: FormatError, lines: [String: Int]) {
        self.init(error.document, line: Self.line(of: error.field, in: lines), field: error.field, rule: error.rule)
    }

    /// The field's own line, or that of the nearest field around it.
    private static func line(of field: String, in lines: [String: Int]) -> Int? {
        var field = field[...]
        while lines[String(field)] == nil {
            guard let cut = field.lastIndex(where: { $0 == "." || $0 == "[" }) else { return lines[""] }
            field = field[..<cut]
        }
        return lines[String(field)]
    }
}

extension DescriptionError {
    /// The rule as a sentence without its field.
    package var words: String {
        rule.hasPrefix(": ") ? String(rule.dropFirst(2)) : rule
    }

    /// The form for scripts: `{"line": 4, "key": "patches[0].version", "rule": "…", "message": "…"}`.
    package var json: JSON {
        .fields([
            ("line", line.map { .integer($0) }), ("key", field.isEmpty ? nil : .text(field)), ("rule", .text(words)),
            ("message", .text(description)),
        ])
    }
}

extension DescriptionError: CustomStringConvertible {
    package var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        guard !field.isEmpty else { return "\(place): \(words)" }
        return rule.hasPrefix(":") ? "\(place): \(field)\(rule)" : "\(place): \(field) \(rule)"
    }
}
