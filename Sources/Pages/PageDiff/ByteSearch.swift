import Glibc

/// Searches the bytes of a page for markup in one pass.
@safe
struct ByteSearch {
    private let bytes: UnsafeBufferPointer<UInt8>

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        unsafe self.bytes = bytes
    }

    static func through<Found>(_ bytes: [UInt8], _ search: (ByteSearch) -> Found) -> Found {
        unsafe bytes.withUnsafeBufferPointer { unsafe search(ByteSearch($0)) }
    }

    var count: Int { unsafe bytes.count }

    subscript(_ place: Int) -> UInt8 { unsafe bytes[place] }

    /// The first position of a byte in a range, or nil.
    func first(_ byte: UInt8, from start: Int, before end: Int) -> Int? {
        guard start < end, let base = unsafe bytes.baseAddress,
            let found = unsafe memchr(base + start, Int32(byte), end - start)
        else { return nil }
        return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    /// Whether the text is at a position, ignoring case.
    ///
    /// - Parameter text: The text in lower case.
    func holds(_ text: StaticString, at place: Int) -> Bool {
        guard place >= 0, place + text.utf8CodeUnitCount <= count else { return false }
        for offset in 0..<text.utf8CodeUnitCount
        where unsafe bytes[place + offset].lowercased != text.utf8Start[offset] { return false }
        return true
    }

    /// The first position of a byte that is not a letter, digit or underscore.
    func endOfWord(from start: Int) -> Int {
        var place = start
        while place < count, unsafe bytes[place].isWord { place += 1 }
        return place
    }
}

extension UInt8 {
    fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    /// Whether the byte matches `\w` of regular expressions.
    var isWord: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
