extension String {
    /// Whether the text has 1 to `limit` bytes and every terminal, log and page shows it on one line.
    package func isOneLine(upTo limit: Int) -> Bool {
        (1...limit).contains(utf8.count)
            && unicodeScalars.allSatisfy {
                ![.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
    }

    /// The rule of ``isOneLine(upTo:)`` in words.
    package static func oneLineRule(upTo limit: Int) -> String {
        "must be 1 to \(limit) bytes of text on one line"
    }
}
