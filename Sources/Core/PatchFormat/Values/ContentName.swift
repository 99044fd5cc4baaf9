/// Recognises file names that change whenever the content does, as bundlers make them: `main.3f9a1c07.js`.
///
/// The check is conservative: a name that might be a word, a version or a date does not count. Such a file is revalidated, which
/// costs a device one local round trip.
package enum ContentName {
    /// - Parameter path: the path of a file, or of a URL without its query. A query never counts, because a server ignores it.
    package static func carriesContent(_ path: String) -> Bool {
        let segments = path.utf8.split(separator: UInt8(ascii: "/"))
        if segments.contains(where: hasLongHex) { return true }
        guard let name = segments.last else { return false }
        // The extension is not a hash: `a.deadbee1` has none.
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return false }
        let stem = name[..<dot]
        let pieces = stem.split { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        if pieces.contains(where: { isHex($0) || isMixed($0) }) { return true }
        // Rollup's eight characters may contain a separator: `index-B_x3-9aQ.js`.
        guard stem.count > 9 else { return false }
        let separator = stem[stem.index(stem.endIndex, offsetBy: -9)]
        return (separator == UInt8(ascii: "-") || separator == UInt8(ascii: ".")) && isMixed(stem.suffix(8))
    }

    /// 40 hexadecimal digits in a row, as Meteor names files.
    private static func hasLongHex(_ segment: Substring.UTF8View) -> Bool {
        var run = 0
        for byte in segment {
            run = isLowerHex(byte) ? run + 1 : 0
            if run == 40 { return true }
        }
        return false
    }

    /// Eight or more hexadecimal digits with both digits and letters: a date has no letters, a word has no digits.
    private static func isHex(_ piece: Substring.UTF8View) -> Bool {
        (8...128).contains(piece.count) && piece.allSatisfy(isLowerHex) && piece.contains(where: isDigit)
            && piece.contains { !isDigit($0) }
    }

    /// Base64url or Base32 of eight or more characters that is not a word with a number: `DEfB3x9a`, `5INURTSO`.
    private static func isMixed(_ piece: Substring.UTF8View) -> Bool {
        guard (8...64).contains(piece.count), let last = piece.lastIndex(where: isDigit),
            // `Chapter10` and `RELEASE2` end in their number.
            piece[last...].contains(where: isLetter)
        else { return false }
        guard piece.allSatisfy({ isDigit($0) || isLetter($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else { return false }
        if piece.count == 8, piece.allSatisfy({ isDigit($0) || isUpper($0) }) { return true }
        // Random characters change their kind at most positions, `i18nMessages` and `base64Encoder` at few.
        guard piece.contains(where: isUpper), piece.contains(where: isLower) else { return false }
        let changes = zip(piece, piece.dropFirst()).count { kind($0) != kind($1) }
        return changes >= 5 && changes * 2 >= piece.count
    }

    private static func kind(_ byte: UInt8) -> Int {
        isDigit(byte) ? 0 : isUpper(byte) ? 1 : isLower(byte) ? 2 : 3
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
    private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { isUpper(byte) || isLower(byte) }
    private static func isLowerHex(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte) }
}
