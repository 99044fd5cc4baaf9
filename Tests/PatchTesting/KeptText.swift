import FoundationEssentials

/// A text that a test compares with a file beside it, and that `make transcripts` writes anew.
package struct KeptText {
    private let name: String
    private let path: String

    /// - Parameters:
    ///   - name: below `Tests`, without `.txt`.
    package init(_ name: String) {
        let tests = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        (self.name, path) = (name, "\(tests)/\(name).txt")
    }

    package var text: String {
        get throws { try String(contentsOfFile: path, encoding: .utf8) }
    }

    /// Where the file says something else, in a sentence; nil where it says the same.
    ///
    /// With `PATCHLINE_TRANSCRIPTS=write` the file is written in place of being compared: `make transcripts`.
    package func difference(to text: String) throws -> String? {
        if ProcessInfo.processInfo.environment["PATCHLINE_TRANSCRIPTS"] == "write" {
            try Data(text.utf8).write(to: URL(filePath: path))
            return nil
        }
        let (old, new) = (lines(try self.text), lines(text))
        guard old != new else { return nil }
        let place = zip(old, new).enumerated().first { $1.0 != $1.1 }?.offset ?? min(old.count, new.count)
        func line(_ lines: [Substring]) -> Substring { place < lines.count ? lines[place] : "(the end)" }
        return """
            \(name).txt:\(place + 1) says: \(line(old))
            and what people see is: \(line(new))
            Where that is meant, `make transcripts` writes it anew.
            """
    }

    private func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }
}
