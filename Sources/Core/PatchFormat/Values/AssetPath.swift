@_spi(_Unicode) import Swift

/// The path of one file in a bundle: relative, `/` between segments, safe to use below any folder.
///
/// UTF-8 in NFC, at most 255 bytes a segment and 1,024 in all. Control characters, `\` and empty, `.` or `..` segments are invalid.
/// Two paths in one bundle must also differ after case folding; the manifest checks that.
package struct AssetPath: Hashable, Comparable, Sendable, CustomStringConvertible {
    package static let maximumBytes = 1_024
    package static let maximumSegmentBytes = 255

    /// Why a text is not a valid asset path.
    package enum Problem: String, Error, Equatable, Sendable, CaseIterable {
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

    /// The folders that contain the file, outermost first: `a`, `a/b` for `a/b/c`.
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
        let bytes = text.utf8.span
        if bytes.isEmpty { return .empty }
        if bytes.count > maximumBytes { return .tooLong }
        if bytes[0] == UInt8(ascii: "/") { return .absolute }
        var (hasBackslash, isASCII, start) = (false, true, 0)
        var ofSegments: Problem?
        for place in 0...bytes.count {
            let byte = place < bytes.count ? bytes[place] : UInt8(ascii: "/")
            switch byte {
            case UInt8(ascii: "/"):
                ofSegments = ofSegments ?? problem(ofSegment: bytes.extracting(start..<place))
                start = place + 1
            case UInt8(ascii: "\\"): hasBackslash = true
            case 0x80...: isASCII = false
            default: break
            }
        }
        if hasBackslash { return .backslash }
        if text.holdsControlCharacters { return .control }
        if let ofSegments { return ofSegments }
        if !isASCII, !text._nfc.elementsEqual(text.unicodeScalars) { return .notNFC }
        return nil
    }

    private static func problem(ofSegment bytes: Span<UInt8>) -> Problem? {
        if bytes.isEmpty { return .emptySegment }
        let dot = UInt8(ascii: ".")
        if bytes[0] == dot, bytes.count == 1 || bytes.count == 2 && bytes[1] == dot { return .dotSegment }
        return bytes.count > maximumSegmentBytes ? .segmentTooLong : nil
    }

    /// Equal for two paths that a case-insensitive file system may treat as one.
    ///
    /// Lowercase first: `ẞ` has no uppercase, but its lowercase `ß` has one, `SS`.
    package var caseFolded: ExactString { ExactString(String(decoding: caseFoldedBytes, as: UTF8.self)) }

    /// The case-folded path as UTF-8 bytes.
    var caseFoldedBytes: [UInt8] {
        var bytes = Array(text.utf8)
        for place in bytes.indices {
            if bytes[place] >= 0x80 { return Array(text.lowercased().uppercased().lowercased().utf8) }
            if (0x41...0x5A).contains(bytes[place]) { bytes[place] += 0x20 }
        }
        return bytes
    }

    package static func < (left: AssetPath, right: AssetPath) -> Bool {
        left.exact < right.exact
    }
}

extension String {
    /// The text in Unicode normal form C, which asset paths require.
    package var normalFormC: String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: _nfc)
        return String(scalars)
    }

    /// Whether it contains a scalar of Unicode's category Cc.
    package var holdsControlCharacters: Bool {
        // UTF-8 encodes the control characters below 0x80 as themselves and the others with a first byte of 0xC2.
        let bytes = utf8.span
        guard bytes.indices.contains(where: { bytes[$0] < 0x20 || bytes[$0] == 0x7F || bytes[$0] == 0xC2 }) else {
            return false
        }
        return unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
