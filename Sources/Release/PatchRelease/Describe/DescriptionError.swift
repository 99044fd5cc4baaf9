package import PatchFormat

/// A release description that breaks a rule: which file, where, which field, which rule.
package struct DescriptionError: Error, Equatable, Sendable {
    package let file: String
    /// From 1, where it is known.
    package let line: Int?
    /// `patches[0].version`; empty for the file as a whole.
    package let field: String
    /// What the field breaks; one that begins with a colon is a sentence of its own.
    package let rule: String

    package init(_ file: String, line: Int? = nil, field: String = "", rule: String) {
        self.file = file
        self.line = line
        self.field = field
        self.rule = rule
    }

    /// - Parameter lines: where each field stands.
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

    /// As a script reads it: `{"line": 4, "key": "patches[0].version", "rule": "…", "message": "…"}`.
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
