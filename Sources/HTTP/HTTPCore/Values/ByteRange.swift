/// One range of bytes, as requested by a Range field (RFC 9110 §14.1.2).
package enum ByteRange: Equatable, Sendable {
    /// `first-` or `first-last`; `last` is nil for "to the end".
    case from(Int, to: Int?)
    /// `-count`: the last bytes.
    case last(Int)

    /// Nil unless the field contains exactly one well-formed range of bytes.
    ///
    /// The field is then ignored, and the whole file is sent.
    package init?(parsing values: [String]) {
        guard values.count == 1 else { return nil }
        let parts = values[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let elements = parts[1].listElements
        guard elements.count == 1 else { return nil }
        let ends = elements[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }

        switch (ends[0].isEmpty, ends[1].isEmpty) {
        case (true, true):
            return nil
        case (true, false):
            guard let count = Self.number(ends[1]) else { return nil }
            self = .last(count)
        case (false, true):
            guard let first = Self.number(ends[0]) else { return nil }
            self = .from(first, to: nil)
        case (false, false):
            guard let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last else { return nil }
            self = .from(first, to: last)
        }
    }

    /// Parses digits.
    ///
    /// A number too large for `Int` becomes the largest `Int`, which is beyond the end of every file.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int(text) ?? .max
    }

    package enum Resolved: Equatable, Sendable {
        case bytes(Range<Int>)
        /// Satisfiable, but not expressible as a Content-Range: a suffix of an empty file.
        case whole
        case unsatisfiable
    }

    /// Returns the bytes of the range in a file of `size` bytes.
    package func resolved(size: Int) -> Resolved {
        switch self {
        case .from(let first, let last):
            guard first < size else { return .unsatisfiable }
            return .bytes(first..<(last.map { min($0, size - 1) } ?? size - 1) + 1)
        case .last(let count):
            if count == 0 { return .unsatisfiable }
            return size == 0 ? .whole : .bytes(max(0, size - count)..<size)
        }
    }
}
