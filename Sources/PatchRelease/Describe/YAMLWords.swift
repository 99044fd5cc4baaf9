import Yams

/// What libyaml says of a text that is no YAML, as whoever wrote it needs to hear it.
enum YAMLWords {
    static func error(_ error: any Error, in text: String, of file: String) -> DescriptionError {
        guard let error = error as? YamlError else { return DescriptionError(file, rule: "is not YAML") }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            let words = words(problem, at: mark, in: text)
            return DescriptionError(file, line: mark.line, rule: "is not YAML: \(words)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.sorted().map { "'\($0)'" }.joined(separator: ", ")
            let line = duplicates.map { secondLine(of: $0, from: context.mark, in: text) }.min()
            return DescriptionError(file, line: line ?? context.mark.line, rule: "has \(names) twice in one mapping")
        case .reader(let problem, _, _, _): return DescriptionError(file, rule: "is not YAML: \(problem)")
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            return DescriptionError(file, rule: "is not YAML")
        }
    }

    private static let tab = "this line has a tab; YAML is indented with spaces"

    private static func words(_ problem: String, at mark: Mark, in text: String) -> String {
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
        case "could not find expected ':'": "a line here has no ': ' behind its key"
        case "mapping values are not allowed in this context":
            "a ': ' stands where none may; indent the line as its neighbours, or put the value in quotes"
        case "found unexpected end of stream": "quotes that were opened are not closed"
        default: problem
        }
    }

    /// Of a block mapping that begins at `mark`, the line where a key stands for the second time.
    private static func secondLine(of key: String, from mark: Mark, in text: String) -> Int {
        let lines = lines(of: text)
        let spellings = [key, "\"\(key)\"", "'\(key)'"]
        var seen = 0
        for number in mark.line...max(mark.line, lines.count) where lines.indices.contains(number - 1) {
            let line = lines[number - 1]
            // The first key of an element stands behind its dash.
            guard line.prefix(mark.column - 1).allSatisfy({ $0 == " " || $0 == "-" }) else { continue }
            let rest = line.dropFirst(mark.column - 1)
            guard spellings.contains(where: { rest.hasPrefix($0 + ":") }) else { continue }
            seen += 1
            if seen == 2 { return number }
        }
        return mark.line
    }

    private static func lines(of text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }
}
