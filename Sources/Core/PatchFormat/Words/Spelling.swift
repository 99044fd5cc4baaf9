extension String {
    /// Returns the word that was probably meant, or nil if none is similar.
    package func nearest(among words: some Sequence<String>) -> String? {
        let mine = Array(lowercased().replacing("_", with: "-").utf8)
        let ranked = words.map { (word: $0, distance: changes(from: mine, to: Array($0.utf8))) }
        return ranked.min { $0.distance < $1.distance }.flatMap {
            $0.distance <= 1 + $0.word.utf8.count / 3 ? $0.word : nil
        }
    }
}

/// The number of letters to insert, delete or change (Levenshtein distance).
private func changes(from left: [UInt8], to right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, letter) in left.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, other) in right.enumerated() {
            let changed = diagonal + (letter == other ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(changed, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[right.count]
}
