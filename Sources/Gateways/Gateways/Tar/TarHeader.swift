import PatchFormat

/// The 512 bytes before a file in a tar archive.
///
/// Numbers are octal digits followed by a zero or a blank.
struct TarHeader {
    static let nameSize = 100

    let name: String
    /// The size of the content in bytes.
    let size: Int
    private let kind: UInt8
    private let hasLink: Bool

    private enum Field {
        static let name = 0..<100
        static let numbers = [("mode", 100..<108), ("owner", 108..<116), ("group", 116..<124)]
        static let size = 124..<136
        static let time = 136..<148
        static let checksum = 148..<156
        static let kind = 156
        static let link = 157..<257
        static let magic = 257..<265
        static let owners = 265..<329
        static let devices = 329..<345
        /// The first part of a long name.
        ///
        /// GNU's tar stores times and hole positions here.
        static let prefix = 345..<512
    }

    private static let posix = Array("ustar\u{0}00".utf8)
    /// The magic that GNU's tar writes by default.
    private static let gnu = Array("ustar  \u{0}".utf8)

    init(_ block: ArraySlice<UInt8>) throws(TarError.HeaderRule) {
        let block = Array(block)
        let magic = Array(block[Field.magic])
        guard magic == Self.posix || magic == Self.gnu else { throw .notTar }
        guard let checksum = Self.number(block[Field.checksum]), checksum == Self.checksum(of: block) else {
            throw .checksum
        }
        for (name, field) in Field.numbers where Self.number(block[field]) == nil { throw .number(name) }
        guard Self.number(block[Field.time]) != nil else { throw .number("time") }
        guard let size = Self.number(block[Field.size]) else { throw .number("size") }
        guard let name = Self.text(block[Field.name]) else { throw .nameNotUTF8 }
        guard TarArchive.isZero(block[Field.prefix]) else { throw .prefix }
        (self.name, self.size, kind) = (name, size, block[Field.kind])
        hasLink = !TarArchive.isZero(block[Field.link])
    }

    /// The offset of the next header.
    func end(from place: Int, in bytes: [UInt8]) throws(TarError) -> Int {
        do throws(TarError.EntryRule) {
            try checkKind()
            // Eleven octal digits are below 2^33: nothing here overflows.
            let (left, end) = (bytes.count - place, place + size + TarArchive.padding(of: size))
            guard size <= left else { throw .breaksOff(size - left) }
            guard TarArchive.isZero(bytes[(place + size)..<end]) else { throw .padding }
            return end
        } catch { throw .entry(name, error) }
    }

    private func checkKind() throws(TarError.EntryRule) {
        switch kind {
        case UInt8(ascii: "0"), 0: break
        case UInt8(ascii: "1"): throw .hardLink
        case UInt8(ascii: "2"): throw .symbolicLink
        case UInt8(ascii: "5"): throw .folder
        default: throw .special(kind)
        }
        guard !hasLink else { throw .linked }
    }

    static func bytes(of file: TarArchive.File) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: TarArchive.block)
        func put(_ bytes: [UInt8], at field: Range<Int>) {
            block.replaceSubrange(field.lowerBound..<(field.lowerBound + bytes.count), with: bytes)
        }
        put(Array(file.name.text.utf8), at: Field.name)
        for ((_, field), value) in zip(Field.numbers, [0o644, 0, 0]) { put(digits(value, 7), at: field) }
        put(digits(file.bytes.count, 11), at: Field.size)
        put(digits(0, 11), at: Field.time)
        block[Field.kind] = UInt8(ascii: "0")
        put(posix, at: Field.magic)
        put(digits(0, 7) + [0] + digits(0, 7), at: Field.devices)
        put(digits(checksum(of: block), 6) + [0, 0x20], at: Field.checksum)
        return block
    }

    /// The sum of all bytes, with blanks in place of the checksum itself.
    private static func checksum(of block: [UInt8]) -> Int {
        block.enumerated().reduce(0) { $0 + (Field.checksum.contains($1.offset) ? 0x20 : Int($1.element)) }
    }

    private static func digits(_ value: Int, _ count: Int) -> [UInt8] {
        let text = String(value, radix: 8)
        return Array((String(repeating: "0", count: max(0, count - text.utf8.count)) + text).utf8)
    }

    /// Nil if the field is not octal digits.
    ///
    /// GNU's tar writes some numbers in binary, which are rejected too.
    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
        let digits = field.drop { $0 == 0x20 }.prefix { (0x30...0x37).contains($0) }
        guard !digits.isEmpty, digits.count <= 11, field[digits.endIndex...].allSatisfy({ $0 == 0 || $0 == 0x20 })
        else { return nil }
        return digits.reduce(0) { $0 << 3 | Int($1 - 0x30) }
    }

    /// The text before the first zero, or nil if other bytes follow it or it is not UTF-8.
    private static func text(_ field: ArraySlice<UInt8>) -> String? {
        let name = field.prefix { $0 != 0 }
        guard TarArchive.isZero(field[name.endIndex...]) else { return nil }
        return String(validating: name, as: UTF8.self)
    }
}
