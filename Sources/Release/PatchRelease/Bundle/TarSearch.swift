/// The header of a file in a tar archive: ustar, GNU, pax or the format of 1979.
struct TarBlock {
    static let size = 512

    let name: [UInt8]
    let count: Int
    let kind: UInt8
    let isUSTAR: Bool

    /// Returns nil for any other block.
    init?(_ block: some Sequence<UInt8>) {
        let block = Array(block)
        guard block.count == Self.size, Self.number(block[148..<156]) == Self.sum(block),
            let count = Self.number(block[124..<136]), count <= 1 << 40
        else { return nil }
        (self.count, kind, isUSTAR) = (count, block[156], block[257..<262].elementsEqual("ustar".utf8))
        let name = block[0..<100].prefix { $0 != 0 }
        // In the GNU format, times replace the first part of a long name.
        let hasPrefix = isUSTAR && block[262] == 0
        let prefix = hasPrefix ? block[345..<500].prefix { $0 != 0 } : []
        self.name = prefix.isEmpty ? Array(name) : prefix + [UInt8(ascii: "/")] + name
    }

    /// The sum of all bytes, with the checksum field counted as spaces.
    private static func sum(_ block: [UInt8]) -> Int {
        block.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
    }

    /// Octal digits between spaces and zeros, or GNU's binary form.
    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
        if field.first == 0x80 {
            return field.dropFirst().reduce(0 as Int?) { value, byte in
                guard let value, value < 1 << 44 else { return nil }
                return value << 8 | Int(byte)
            }
        }
        let digits = field.drop { $0 == 0x20 }.prefix { (0x30...0x37).contains($0) }
        guard field.drop(while: { $0 == 0x20 }).dropFirst(digits.count).allSatisfy({ $0 == 0x20 || $0 == 0 }) else {
            return nil
        }
        return digits.isEmpty ? nil : digits.reduce(0) { $0 << 3 | Int($1 - 0x30) }
    }
}

/// Searches the files of a tar archive while its bytes arrive.
struct TarSearch {
    /// The maximum size of a long name that is stored as its own entry.
    private static let longestName = 65_536

    private enum State {
        case header
        case file([UInt8], ContentSearch)
        /// A long name of the next entry: a GNU entry or a pax record.
        case name([UInt8], isRecord: Bool)
        case other
    }

    private var state = State.header
    private var block: [UInt8] = []
    /// The number of bytes left to read of the entry.
    private var left = 0
    private var padding = 0
    private var longName: [UInt8]?
    private(set) var entries = 0
    private(set) var hasEnded = false

    mutating func take(_ bytes: [UInt8], _ found: ArchiveStream.Finding) throws(ArchiveStream.Fault) {
        var rest = bytes[...]
        while !rest.isEmpty, !hasEnded {
            if case .header = state {
                let taken = rest.prefix(padding > 0 ? padding : TarBlock.size - block.count)
                rest = rest.dropFirst(taken.count)
                if padding > 0 {
                    padding -= taken.count
                } else {
                    block += taken
                    if block.count == TarBlock.size { try begin(found) }
                }
            } else {
                let taken = rest.prefix(left)
                rest = rest.dropFirst(taken.count)
                left -= taken.count
                add(Array(taken))
                if left == 0 { finish(found) }
            }
        }
    }

    private mutating func begin(_ found: ArchiveStream.Finding) throws(ArchiveStream.Fault) {
        defer { block = [] }
        guard block.contains(where: { $0 != 0 }) else {
            hasEnded = true
            return
        }
        guard let header = TarBlock(block) else { throw .damaged }
        entries += 1
        let hasContents = !(UInt8(ascii: "1")...UInt8(ascii: "6")).contains(header.kind)
        left = hasContents ? header.count : 0
        padding = (TarBlock.size - left % TarBlock.size) % TarBlock.size
        switch header.kind {
        case UInt8(ascii: "0"), 0, UInt8(ascii: "7"), UInt8(ascii: "S"):
            state = .file(longName ?? header.name, ContentSearch([]))
            longName = nil
        case UInt8(ascii: "L"), UInt8(ascii: "x"):
            guard left <= Self.longestName else { throw .damaged }
            state = .name([], isRecord: header.kind == UInt8(ascii: "x"))
        default:
            state = .other
            if header.kind != UInt8(ascii: "K"), header.kind != UInt8(ascii: "g") { longName = nil }
        }
        if left == 0 { finish(found) }
    }

    private mutating func add(_ bytes: [UInt8]) {
        switch state {
        case .file(let name, var search):
            state = .other
            search.take(bytes)
            state = .file(name, search)
        case .name(let name, let isRecord): state = .name(name + bytes, isRecord: isRecord)
        case .header, .other: break
        }
    }

    /// Finishes the current entry, at its end or at the end of the archive.
    mutating func finish(_ found: ArchiveStream.Finding) {
        switch state {
        case .file(let name, var search): found(name, search.finish().secret)
        case .name(let text, let isRecord):
            longName = isRecord ? Self.path(in: text) ?? longName : Array(text.prefix { $0 != 0 })
        case .header, .other: break
        }
        state = .header
    }

    /// The `path` of pax records.
    ///
    /// Each record is `LENGTH KEY=VALUE` and a line feed.
    private static func path(in text: [UInt8]) -> [UInt8]? {
        var (rest, found): (ArraySlice<UInt8>, [UInt8]?) = (text[...], nil)
        while let space = rest.firstIndex(of: 0x20), let length = Int(String(decoding: rest[..<space], as: UTF8.self)),
            length > space - rest.startIndex + 1, length <= rest.count
        {
            let record = rest.prefix(length).dropLast()[(space + 1)...]
            if record.starts(with: "path=".utf8) { found = Array(record.dropFirst(5)) }
            rest = rest.dropFirst(length)
        }
        return found
    }
}
