/// The records of a zip archive as defined in APPNOTE.TXT 4.3.
///
/// All numbers are little-endian.
enum ZipRecords {
    static let localSignature = 0x0403_4B50
    static let listSignature = 0x0201_4B50
    static let endSignature = 0x0605_4B50
    static let localSize = 30
    static let listSize = 46
    static let endSize = 22

    /// The earliest date of the format: 1980-01-01.
    static let date = 0x0021
    /// Version 2.0 of the format, written on Unix.
    static let madeBy = 3 << 8 | 20
    /// A regular file that every user may read: `-rw-r--r--`.
    static let attributes = 0o100_644 << 16
    static let stored = 0
    static let deflated = 8
}

/// The flags of an entry (4.4.4).
struct ZipFlags: OptionSet {
    let rawValue: Int

    static let encrypted = ZipFlags(rawValue: 1)
    /// The compression level of deflate, which readers ignore.
    static let effort = ZipFlags(rawValue: 0b110)
    static let streamed = ZipFlags(rawValue: 1 << 3)
    static let utf8 = ZipFlags(rawValue: 1 << 11)
}

/// Writes the fields of a record.
struct ZipWriter {
    private(set) var bytes: [UInt8] = []

    mutating func two(_ value: Int...) {
        for value in value { for shift in [0, 8] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) } }
    }

    mutating func four(_ value: Int...) {
        for value in value { for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) } }
    }

    mutating func raw(_ more: [UInt8]) { bytes += more }
}

/// Reads the fields of a record.
///
/// The caller checks that the bytes exist.
struct ZipReader {
    private let bytes: ArraySlice<UInt8>
    private var place: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        place = bytes.startIndex
    }

    mutating func two() -> Int { number(2) }
    mutating func four() -> Int { number(4) }

    private mutating func number(_ count: Int) -> Int {
        defer { place += count }
        return (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }
}
