import PatchFormat
import PatchCrypto

/// The files of an express response in a compact form: digests and signatures, which do not compress, are written as bytes instead
/// of digits.
///
/// ```
/// FILE 00 PATH 0A        the last file first
/// 01 COUNT BYTES         in a file or a path: the bytes as hexadecimal digits
/// 02 COUNT BYTES         the bytes in base64
/// 03 NUMBER              the SHA-256 of an earlier file, as hexadecimal digits; the first is 0
/// ```
enum ExpressText {
    private enum Mark {
        static let end: UInt8 = 0
        static let hex: UInt8 = 1
        static let base64: UInt8 = 2
        static let digest: UInt8 = 3
    }

    /// The largest number of files, because a number has one byte.
    static let files = 255
    /// The shortest encoded runs, in digits.
    ///
    /// Shorter runs are written unchanged.
    private static let (leastHex, leastBase64) = (32, 128)
    /// The longest encoded runs, in bytes.
    ///
    /// A count has two bytes.
    private static let (mostHex, mostBase64) = (65_535, 65_535 / 3 * 3)
    /// The longest path in bytes.
    private static let longestPath = 256

    /// Writes the text.
    ///
    /// Both sides get the same text for the same files.
    ///
    /// - Parameter numbering: whether a digest of one of these files is written as its number.
    /// - Returns: nil if there are too many files, or if one contains a byte that is a mark here.
    static func text(of parts: [Express.Part], numbering: Bool) -> [UInt8]? {
        guard parts.count <= files, parts.allSatisfy({ $0.bytes.allSatisfy { $0 > Mark.digest } }) else { return nil }
        var text: [UInt8] = []
        var numbers: [[UInt8]: UInt8] = [:]
        for (number, part) in parts.reversed().enumerated() {
            write(part.bytes, numbers, to: &text)
            text.append(Mark.end)
            if numbering { numbers[Array(SHA256Digest(of: part.bytes).hex.utf8)] = UInt8(number) }
            write(Array(part.file.path.utf8), numbers, to: &text)
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    private static func write(_ bytes: [UInt8], _ numbers: [[UInt8]: UInt8], to text: inout [UInt8]) {
        var start = 0
        var (hexEnd, base64End) = (0, 0)
        while start < bytes.count {
            if hexEnd <= start { hexEnd = end(of: bytes, from: start) { Hex.value(of: $0) != nil } }
            if base64End <= start { base64End = end(of: bytes, from: start, isBase64) }
            let hex = hexEnd - start
            let base64 = base64End - start
            if hex == 64, let number = numbers[Array(bytes[start..<hexEnd])] {
                text += [Mark.digest, number]
                start = hexEnd
            } else if hex >= leastHex {
                let count = min(hex / 2, mostHex)
                let digits = String(decoding: bytes[start..<start + 2 * count], as: UTF8.self)
                append(Mark.hex, Hex.bytes(digits) ?? [], to: &text)
                start += 2 * count
            } else if base64 >= leastBase64 {
                let count = min(base64 / 4 * 3, mostBase64)
                let digits = String(decoding: bytes[start..<start + count / 3 * 4], as: UTF8.self)
                append(Mark.base64, Base64.bytes(digits) ?? [], to: &text)
                start += count / 3 * 4
            } else {
                text.append(bytes[start])
                start += 1
            }
        }
    }

    private static func append(_ mark: UInt8, _ bytes: [UInt8], to text: inout [UInt8]) {
        text += [mark, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    private static func end(of bytes: [UInt8], from start: Int, _ isDigit: (UInt8) -> Bool) -> Int {
        bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}

extension ExpressText {
    /// Returns the files of a text in its order, the last one first.
    ///
    /// - Parameter limit: the most bytes of all files and paths.
    static func files(of text: ArraySlice<UInt8>, limit: Int) throws(FormatError) -> [(path: [UInt8], bytes: [UInt8])] {
        var reader = Reader(rest: text, room: limit)
        var files: [(path: [UInt8], bytes: [UInt8])] = []
        while !reader.rest.isEmpty {
            guard files.count < Self.files else { throw broken("has more than \(Self.files) files") }
            let bytes = try reader.run(to: Mark.end, limit: limit)
            reader.digests.append(Array(SHA256Digest(of: bytes).hex.utf8))
            files.append((try reader.run(to: UInt8(ascii: "\n"), limit: longestPath), bytes))
        }
        return files
    }

    static func broken(_ rule: String) -> FormatError {
        FormatError("express", rule: "must be a difference to the named files: its text \(rule)")
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>
        var room: Int
        /// The digests of the files so far.
        var digests: [[UInt8]] = []

        /// Returns the bytes before `end`.
        mutating func run(to end: UInt8, limit: Int) throws(FormatError) -> [UInt8] {
            var run: [UInt8] = []
            while let byte = rest.popFirst() {
                let piece: [UInt8]
                switch byte {
                case end:
                    room -= run.count
                    return run
                case Mark.end: throw broken("has an unfinished path")
                case Mark.hex: piece = Array(Hex.text(try counted()).utf8)
                case Mark.base64:
                    let bytes = try counted()
                    guard bytes.count.isMultiple(of: 3) else { throw broken("has base64 with an incomplete group") }
                    piece = Array(Base64.text(Array(bytes)).utf8)
                case Mark.digest:
                    guard let number = rest.popFirst(), digests.indices.contains(Int(number)) else {
                        throw broken("names a file that does not precede it")
                    }
                    piece = digests[Int(number)]
                default: piece = [byte]
                }
                guard run.count + piece.count <= min(room, limit) else { throw broken("is too long") }
                run += piece
            }
            throw broken("ends within a file")
        }

        private mutating func counted() throws(FormatError) -> ArraySlice<UInt8> {
            let count = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            let bytes = rest.dropFirst(2).prefix(count)
            guard rest.count >= 2 + count, rest.count >= 2 else { throw broken("ends within a file") }
            rest = rest.dropFirst(2 + count)
            return bytes
        }
    }
}
