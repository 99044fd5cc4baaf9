@_spi(_Unicode) import Swift

/// The path of one file in a bundle: relative, `/` between segments, safe to use below any folder.
///
/// UTF-8 in NFC, no control characters, no `\`, no empty, `.` or `..` segment, at most 255 bytes a segment and 1,024 in
/// all. Two of these in one bundle must also differ after case folding; the manifest checks that.
package struct AssetPath: Hashable, Comparable, Sendable, CustomStringConvertible {
    package static let maximumBytes = 1_024
    package static let maximumSegmentBytes = 255

    /// Why a text is no asset path.
    package enum Problem: String, Error, Equatable, Sendable {
        case empty = "is empty"
        case absolute = "is absolute"
        case emptySegment = "has an empty segment"
        case dotSegment = "has a '.' or '..' segment"
        case backslash = "has a backslash"
        case control = "has a control character"
        case notNFC = "is not in Unicode normal form C"
        case segmentTooLong = "has a segment over 255 bytes"
        case tooLong = "is over 1,024 bytes"
    }

    private let exact: ExactString

    package var text: String { exact.text }
    package var description: String { text }
    package var segments: [String] { text.piecesBetweenSlashes }

    /// The folders it lies in, the outermost first: `a`, `a/b` of `a/b/c`.
    package var folders: [String] {
        var folders: [String] = []
        for place in text.utf8.indices where text.utf8[place] == UInt8(ascii: "/") {
            folders.append(String(text[..<place]))
        }
        return folders
    }

    package init(_ text: String) throws(Problem) {
        if let problem = Self.problem(of: text) { throw problem }
        exact = ExactString(text)
    }

    private static func problem(of text: String) -> Problem? {
        let utf8 = text.utf8
        if utf8.isEmpty { return .empty }
        if utf8.count > maximumBytes { return .tooLong }
        if utf8.first == UInt8(ascii: "/") { return .absolute }
        if utf8.contains(UInt8(ascii: "\\")) { return .backslash }
        if text.holdsControlCharacters { return .control }
        for segment in utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if segment.isEmpty { return .emptySegment }
            if segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) { return .dotSegment }
            if segment.count > maximumSegmentBytes { return .segmentTooLong }
        }
        if !utf8.allSatisfy({ $0 < 0x80 }) && !text._nfc.elementsEqual(text.unicodeScalars) { return .notNFC }
        return nil
    }

    /// Equal for two paths that a case-insensitive file system may hold as one.
    ///
    /// Lowercase first: `ẞ` has no uppercase, but its lowercase `ß` has one, `SS`.
    package var caseFolded: ExactString {
        if text.utf8.allSatisfy({ $0 < 0x80 && !(0x41...0x5A).contains($0) }) { return exact }
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            let folded = text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
            return ExactString(String(decoding: folded, as: UTF8.self))
        }
        return ExactString(text.lowercased().uppercased().lowercased())
    }

    package static func < (left: AssetPath, right: AssetPath) -> Bool {
        left.exact < right.exact
    }
}

extension String {
    /// Whether it holds a scalar of Unicode's category Cc.
    var holdsControlCharacters: Bool {
        // Of these, UTF-8 spells all below 0x80 with themselves and the others with a first byte of 0xC2.
        guard utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }) else { return false }
        return unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
