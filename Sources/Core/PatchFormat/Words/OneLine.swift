extension String {
    /// Whether it is 1 to `limit` bytes of text that every terminal, log and page shows on one line.
    package func isOneLine(upTo limit: Int) -> Bool {
        (1...limit).contains(utf8.count)
            && unicodeScalars.allSatisfy {
                ![.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
    }

    /// What ``isOneLine(upTo:)`` asks, in words.
    package static func oneLineRule(upTo limit: Int) -> String {
        "must be 1 to \(limit) bytes of text on one line"
    }
}
