extension PatchScript {
    /// The largest script in bytes.
    static let largest = 16_000_000

    /// The script's text, by the rule of P4: missing, altered and non-UTF-8 files are different failures.
    func text() throws(PatchFailure) -> String {
        switch content {
        case .missing: throw failure(.missing, "its file is missing")
        case .altered: throw failure(.altered, "its file is not the one that was signed")
        case .bytes(let bytes):
            guard bytes.count <= Self.largest else {
                throw failure(.tooLarge, "it has \(bytes.count) bytes; the limit is \(Self.largest)")
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw failure(.notUTF8, "it is not UTF-8")
            }
            return text
        }
    }

    /// Checks the script without evaluating it, and returns nil if its text is valid.
    package func check() -> PatchFailure? {
        do throws(PatchFailure) {
            let text = try text()
            let engine = JavaScriptEngine(limits: EngineLimits(time: .seconds(10), bytes: 1_000_000_000))
            do throws(JavaScriptException) { try engine.checkSyntax(text, source: id) } catch {
                let column = error.line.flatMap { engine.columnOfMistake(in: text, line: $0) }
                return failure(.syntax, error.message, line: error.line, column: column)
            }
            return nil
        } catch { return error }
    }

    private func failure(
        _ kind: PatchFailure.Kind,
        _ message: String,
        line: Int? = nil,
        column: Int? = nil
    ) -> PatchFailure {
        PatchFailure(
            kind: kind,
            patch: id,
            version: version,
            message: message,
            file: nil,
            line: line,
            column: column,
            stack: nil
        )
    }
}

extension JavaScriptEngine {
    /// Longer lines and texts are not searched for a column.
    private static let longestLine = 400
    private static let longestText = 1_000_000

    /// Finds the column of a syntax error, which the engine does not report: the first word after which the beginning of the
    /// program is wrong.
    func columnOfMistake(in text: String, line: Int) -> Int? {
        guard text.utf8.count <= Self.longestText else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1), lines[line - 1].utf8.count <= Self.longestLine else { return nil }
        let before = text[..<lines[line - 1].startIndex]
        var word = lines[line - 1].startIndex
        var at = word
        while at < lines[line - 1].endIndex {
            let next = text.index(after: at)
            let isEnd = next == lines[line - 1].endIndex || !(text[at].isLetter && text[next].isLetter)
            if isEnd, isWrong(before + text[before.endIndex..<next]) {
                return text.distance(from: lines[line - 1].startIndex, to: word) + 1
            }
            if isEnd { word = next }
            at = next
        }
        return nil
    }

    /// Whether the beginning of a program is wrong with any continuation.
    private func isWrong(_ beginning: Substring) -> Bool {
        do throws(JavaScriptException) {
            try checkSyntax(String(beginning), source: "beginning")
            return false
        } catch {
            return !["Unexpected end of script", "Unexpected EOF", "Unterminated", "Multiline"]
                .contains { error.message.contains($0) }
        }
    }
}
