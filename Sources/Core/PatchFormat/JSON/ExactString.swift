/// A string that is compared by its UTF-8 bytes.
///
/// Swift's `String ==` treats canonically equal strings as one, so `café` in NFC and in NFD would be the same dictionary key.
/// Signed names with different bytes are different names.
package struct ExactString: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package init(stringLiteral text: String) {
        self.text = text
    }

    package var description: String { text }

    package static func == (left: ExactString, right: ExactString) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The order of canonical JSON: by UTF-8 bytes.
    package static func < (left: ExactString, right: ExactString) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

extension String {
    /// Whether `other` has the same UTF-8 bytes as this string without its first `first` bytes.
    package func hasSameBytes(as other: String, after first: Int = 0) -> Bool {
        let mine = utf8.span
        let theirs = other.utf8.span
        return mine.count == first + theirs.count && theirs.indices.allSatisfy { mine[first + $0] == theirs[$0] }
    }

    /// The part before the last slash, or an empty string if there is no slash.
    var beforeLastSlash: String {
        utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self[..<$0]) } ?? ""
    }

    /// The pieces between the slashes, including empty ones.
    ///
    /// Splits by bytes: to Swift, a `/` with a following combining mark is one character that differs from `/`.
    var piecesBetweenSlashes: [String] {
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
