import PatchFormat

/// Maps locations in a script to its original files: version 3 of the source map format, in the script's last line.
///
/// ```
/// //# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLC…
/// ```
///
/// A map that is elsewhere, too large or invalid is ignored: locations are then those of the script.
struct SourceMap: Equatable, Sendable {
    struct Place: Equatable, Sendable {
        let file: String
        /// The line, which like the column starts at 1.
        let line: Int
        let column: Int
    }

    /// The largest map in bytes, and the most segments in it.
    static let largest = 4_000_000
    static let mostSegments = 500_000

    /// The mapping of a column and those after it, up to the line's next segment.
    ///
    /// All values start at 0.
    private struct Segment: Equatable {
        let column: Int
        let source: Int
        let line: Int
        let originalColumn: Int
    }

    private let sources: [String]
    private let lines: [[Segment]]

    /// - Parameter document: the map's JSON.
    init?(_ document: [UInt8]) {
        guard document.count <= Self.largest, let map = (try? JSON(parsing: document))?.object,
            map["version"] == .integer(3), case .string(let mappings)? = map["mappings"],
            case .array(let names)? = map["sources"]
        else { return nil }
        var sources: [String] = []
        for name in names {
            guard case .string(let name) = name else { return nil }
            sources.append(name.text)
        }
        guard let lines = Self.lines(of: mappings.text, sources: sources.count) else { return nil }
        self.sources = sources
        self.lines = lines
    }

    /// The original location of a location in the script.
    func original(line: Int, column: Int) -> Place? {
        guard lines.indices.contains(line - 1), let segment = lines[line - 1].last(where: { $0.column <= column - 1 })
        else {
            return nil
        }
        return Place(file: sources[segment.source], line: segment.line + 1, column: segment.originalColumn + 1)
    }

    /// Lines are separated by `;` and segments by `,`.
    ///
    /// Each number is the difference to the previous one.
    private static func lines(of mappings: String, sources: Int) -> [[Segment]]? {
        var (lines, count): ([[Segment]], Int) = ([], 0)
        var (source, line, originalColumn) = (0, 0, 0)
        for text in mappings.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            var (segments, column): ([Segment], Int) = ([], 0)
            for part in text.split(separator: UInt8(ascii: ",")) {
                guard let numbers = VariableLengthQuantity.numbers(in: part), let first = numbers.first else {
                    return nil
                }
                column += first
                // A segment with one number has no original location.
                guard numbers.count >= 4 else { continue }
                (source, line, originalColumn) = (source + numbers[1], line + numbers[2], originalColumn + numbers[3])
                count += 1
                guard (0..<sources).contains(source), column >= 0, line >= 0, originalColumn >= 0, count <= mostSegments
                else {
                    return nil
                }
                segments.append(Segment(column: column, source: source, line: line, originalColumn: originalColumn))
            }
            lines.append(segments)
        }
        return lines
    }
}

/// Decodes the numbers of source maps: five bits for each Base64 character, the lowest bits first.
///
/// The lowest bit is the sign.
enum VariableLengthQuantity {
    private static let values: [UInt8: Int] = Dictionary(
        uniqueKeysWithValues: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8.enumerated()
            .map { ($1, $0) }
    )

    /// Nil if a character is not Base64, a number is longer than 32 bits, or the last number is incomplete.
    static func numbers(in text: Substring.UTF8View) -> [Int]? {
        var (numbers, number, shift): ([Int], Int, Int) = ([], 0, 0)
        for character in text {
            guard let value = values[character], shift <= 30 else { return nil }
            number |= (value & 31) << shift
            if value & 32 != 0 {
                shift += 5
            } else {
                numbers.append(number & 1 == 0 ? number >> 1 : -(number >> 1))
                (number, shift) = (0, 0)
            }
        }
        return shift == 0 ? numbers : nil
    }
}
