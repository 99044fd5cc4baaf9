import YAMLReading

/// Rewords libyaml's errors for the author of the text.
enum YAMLErrorText {
    static func error(_ fault: YAMLFault, in text: String, of file: String) -> DescriptionError {
        switch fault {
        case .syntax(let problem, let mark):
            return DescriptionError(file, line: mark.line, rule: "is not YAML: \(words(problem, at: mark, in: text))")
        case .duplicateKeys(let names, let mark):
            let names = names.map { "'\($0)'" }.joined(separator: ", ")
            return DescriptionError(file, line: mark.line, rule: "has \(names) twice in one mapping")
        case .unreadable(let problem): return DescriptionError(file, rule: "is not YAML: \(problem)")
        case .noMemory: return DescriptionError(file, rule: "is not YAML")
        }
    }

    private static let tab = "this line has a tab; YAML is indented with spaces"

    private static func words(_ problem: String, at mark: YAMLTree.Mark, in text: String) -> String {
        let lines = lines(of: text)
        let line = lines.indices.contains(mark.line - 1) ? lines[mark.line - 1] : ""
        return switch problem {
        case "found a tab character that violates indentation": tab
        case "found character that cannot start any token" where line.prefix(mark.column).contains("\t"): tab
        case "found character that cannot start any token":
            "a value here begins with a character that needs quotes, such as @, % or `"
        case "did not find expected '-' indicator":
            "this line is indented differently from the list that it belongs to; each element begins with '- '"
        case "did not find expected key":
            "this line is indented differently from the lines around it, or lacks a key with ': '"
        case "could not find expected ':'": "a line here has no ': ' after its key"
        case "mapping values are not allowed in this context":
            "a ': ' is not allowed here; indent the line as its neighbours, or put the value in quotes"
        case "found unexpected end of stream": "quotes that were opened are not closed"
        default: problem
        }
    }

    private static func lines(of text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }
}
