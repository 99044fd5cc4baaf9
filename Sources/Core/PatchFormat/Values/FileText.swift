/// Decodes the text of a settings file from any editor and system.
///
/// Accepts UTF-8 with or without a byte order mark, and UTF-16 with one. In the result, lines end with `\n`.
package enum FileText {
    /// Why bytes are not the text of a settings file.
    package enum Problem: String, Error, Equatable, Sendable, CaseIterable {
        case notUTF8 = "is not UTF-8"
        case utf16WithoutMark = "is UTF-16 without a byte order mark; save it as UTF-8"
        case damagedUTF16 = "is not valid UTF-16; save it as UTF-8"
        case utf32 = "is UTF-32; save it as UTF-8"
    }

    package static func decode(_ bytes: [UInt8]) throws(Problem) -> String {
        let text: String
        switch bytes.prefix(4) {
        case [0xFF, 0xFE, 0, 0], [0, 0, 0xFE, 0xFF]: throw .utf32
        case _ where bytes.starts(with: [0xEF, 0xBB, 0xBF]): text = try utf8(bytes.dropFirst(3))
        case _ where bytes.starts(with: [0xFF, 0xFE]): text = try utf16(bytes.dropFirst(2), low: 0)
        case _ where bytes.starts(with: [0xFE, 0xFF]): text = try utf16(bytes.dropFirst(2), low: 1)
        default:
            // ASCII characters in UTF-16 have a zero in every other byte; UTF-8 text contains no zero byte.
            if bytes.count >= 2, (bytes[0] == 0) != (bytes[1] == 0) {
                throw .utf16WithoutMark
            }
            text = try utf8(bytes[...])
        }
        return text.utf8.contains(UInt8(ascii: "\r")) ? unixLines(text) : text
    }

    /// Decodes a JSON file and returns the UTF-8 bytes that its parser needs.
    package static func utf8(_ bytes: [UInt8]) throws(Problem) -> [UInt8] { Array(try decode(bytes).utf8) }

    private static func utf8(_ bytes: ArraySlice<UInt8>) throws(Problem) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        return text
    }

    /// - Parameter low: the position of the lower byte in a pair.
    private static func utf16(_ bytes: ArraySlice<UInt8>, low: Int) throws(Problem) -> String {
        guard bytes.count.isMultiple(of: 2) else { throw .damagedUTF16 }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { place in
            UInt16(bytes[place + low]) | UInt16(bytes[place + 1 - low]) << 8
        }
        guard let text = String(validating: units, as: UTF16.self) else { throw .damagedUTF16 }
        return text
    }

    private static func unixLines(_ text: String) -> String {
        var lines = String.UnicodeScalarView()
        var hasReturn = false
        for scalar in text.unicodeScalars {
            if hasReturn, scalar != "\n" { lines.append("\n") }
            hasReturn = scalar == "\r"
            if !hasReturn { lines.append(scalar) }
        }
        if hasReturn { lines.append("\n") }
        return String(lines)
    }
}
