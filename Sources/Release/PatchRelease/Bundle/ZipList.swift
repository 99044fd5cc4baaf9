/// The entries of a zip archive in memory, from its central directory (PKWARE's APPNOTE.TXT 4.3).
///
/// Every count and size in the archive is checked against the bytes that exist.
struct ZipList {
    struct Entry: Equatable {
        let name: [UInt8]
        let method: Int
        let isEncrypted: Bool
        /// The compressed size that the directory states.
        let size: Int
        /// The position of the local header.
        fileprivate let place: Int

        var isFolder: Bool { name.last == UInt8(ascii: "/") }

        /// The start of the contents; nil if there is no local header.
        func contents(in bytes: [UInt8]) -> Int? {
            let header = LittleEndian(bytes)
            guard header.number(place, 4) == 0x0403_4B50, let name = header.number(place + 26, 2),
                let extra = header.number(place + 28, 2), place + 30 + name + extra <= bytes.count
            else { return nil }
            return place + 30 + name + extra
        }
    }

    private static let endSize = 22
    private static let longestComment = 65_535

    private let bytes: LittleEndian
    private var place: Int
    private let end: Int
    /// The number of bytes before the archive, such as a self-extracting program.
    private let shift: Int
    private let count: Int
    private var read = 0

    /// Returns nil if there is no end-of-central-directory record.
    init?(_ archive: [UInt8]) {
        let bytes = LittleEndian(archive)
        let last = archive.count - Self.endSize
        guard last >= 0 else { return nil }
        let places = max(0, last - Self.longestComment)...last
        guard let end = places.last(where: { bytes.number($0, 4) == 0x0605_4B50 }) else { return nil }
        var (count, size, offset) = (bytes.number(end + 10, 2), bytes.number(end + 12, 4), bytes.number(end + 16, 4))
        var behind = end
        if bytes.number(end - 20, 4) == 0x0706_4B50, let long = bytes.number(end - 12, 8),
            let place = [long, end - 20 - 56].first(where: { bytes.number($0, 4) == 0x0606_4B50 })
        {
            (count, size, offset) = (
                bytes.number(place + 32, 8), bytes.number(place + 40, 8), bytes.number(place + 48, 8)
            )
            behind = place
        }
        guard let count, let size, let offset else { return nil }
        self.bytes = bytes
        self.count = count
        self.end = behind
        // A program before the archive shifts all offsets. Some tools adapt the stored offsets to it.
        if bytes.number(offset, 4) == 0x0201_4B50 || size > behind {
            (place, shift) = (offset, 0)
        } else {
            (place, shift) = (behind - size, behind - size - offset)
        }
    }

    /// Whether the number of entries equals the stated one.
    var isComplete: Bool { read & 0xFFFF == count & 0xFFFF }

    mutating func next() -> Entry? {
        guard place >= 0, place < end, bytes.number(place, 4) == 0x0201_4B50, let flags = bytes.number(place + 8, 2),
            let method = bytes.number(place + 10, 2), let packed = bytes.number(place + 20, 4),
            let size = bytes.number(place + 24, 4), let name = bytes.number(place + 28, 2),
            let extra = bytes.number(place + 30, 2), let comment = bytes.number(place + 32, 2),
            let offset = bytes.number(place + 42, 4), place + 46 + name + extra <= bytes.bytes.count
        else { return nil }
        let fields = (place + 46 + name)..<(place + 46 + name + extra)
        let long = longNumbers(in: fields, [size, packed, offset])
        let entry = Entry(
            name: Array(bytes.bytes[(place + 46)..<(place + 46 + name)]),
            method: method,
            isEncrypted: flags & 1 == 1,
            size: long[1],
            place: max(-1, long[2] > bytes.bytes.count ? -1 : long[2] + shift)
        )
        place += 46 + name + extra + comment
        read += 1
        return entry
    }

    /// The numbers, with each one that is all ones replaced by its zip64 value (4.5.3).
    private func longNumbers(in extra: Range<Int>, _ numbers: [Int]) -> [Int] {
        var place = extra.lowerBound
        while place + 4 <= extra.upperBound, let id = bytes.number(place, 2), let count = bytes.number(place + 2, 2) {
            defer { place += 4 + count }
            guard id == 1 else { continue }
            var field = place + 4
            return numbers.map { number in
                guard number == 0xFFFF_FFFF, field + 8 <= min(extra.upperBound, place + 4 + count) else {
                    return number
                }
                defer { field += 8 }
                return bytes.number(field, 8) ?? number
            }
        }
        return numbers
    }
}

/// Reads little-endian numbers.
private struct LittleEndian {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns nil outside of the bytes and for a number above 2^40.
    func number(_ place: Int, _ count: Int) -> Int? {
        guard place >= 0, place <= bytes.count - count else { return nil }
        var value: UInt64 = 0
        for index in (0..<count).reversed() { value = value << 8 | UInt64(bytes[place + index]) }
        return value <= 1 << 40 ? Int(value) : nil
    }
}
