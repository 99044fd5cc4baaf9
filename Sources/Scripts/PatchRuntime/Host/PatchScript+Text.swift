extension PatchScript {
    /// Bytes of one script.
    static let largest = 16_000_000

    /// Its text, by the rule of P4: what is missing, altered or not UTF-8 is told apart.
    func text() throws(PatchFailure) -> String {
        switch content {
        case .missing: throw failure(.missing, "its file is missing")
        case .altered: throw failure(.altered, "its file is not the one that was signed")
        case .bytes(let bytes):
            guard bytes.count <= Self.largest else {
                throw failure(.tooLarge, "it has \(bytes.count) bytes, and \(Self.largest) are the most")
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw failure(.notUTF8, "it is not UTF-8")
            }
            return text
        }
    }

    /// Why no host could evaluate it, without evaluating it; nil where nothing is wrong with its text.
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
    /// Lines and texts beyond these are not looked through for a column.
    private static let longestLine = 400
    private static let longestText = 1_000_000

    /// Where in its line a mistake is, which the engine does not say: the first word at which more than the end is missing.
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

    /// Whether a beginning of a program is wrong whatever comes behind it.
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
