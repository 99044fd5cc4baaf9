/// The source of a document's bytes: memory, a file, the network.
package protocol ByteSource: AnyObject {
    /// Returns the next bytes, at least one. Returns nil at the end, and on every later call.
    func next() -> [UInt8]?
}

/// A document in memory.
package final class BytesInMemory: ByteSource {
    private var bytes: [UInt8]?

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes.isEmpty ? nil : bytes
    }

    package func next() -> [UInt8]? {
        bytes.take()
    }
}

/// The parser's current piece of a document, and whether all pieces so far are UTF-8.
struct JSONInput {
    private let source: any ByteSource
    private var piece: [UInt8] = []
    private var position = 0
    /// The number of bytes before this piece.
    private var before = 0
    private var text = UTF8Check()
    private(set) var isAtEnd = false

    init(_ source: some ByteSource) {
        self.source = source
        refill()
    }

    /// The position in bytes from the start of the document.
    var offset: Int { before + position }

    func peek() -> UInt8? {
        position < piece.count ? piece[position] : nil
    }

    /// Skips the byte that ``peek()`` returned.
    mutating func advance() {
        position += 1
        if position == piece.count { refill() }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        advance()
        return true
    }

    mutating func skipWhiteSpace() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { advance() }
    }

    /// Returns the bytes up to a quote, a backslash, a control character or the end of this piece.
    ///
    /// The string may continue after it.
    mutating func takePlainText() -> ArraySlice<UInt8> {
        let start = position
        var end = start
        while end < piece.count, piece[end] >= 0x20, piece[end] != UInt8(ascii: "\""), piece[end] != UInt8(ascii: "\\")
        {
            end += 1
        }
        let plain = piece[start..<end]
        position = end
        if position == piece.count { refill() }
        return plain
    }

    /// Reads the rest of the document.
    ///
    /// Returns false unless the whole document is UTF-8.
    mutating func restIsText() -> Bool {
        while !isAtEnd { refill() }
        return text.holds
    }

    private mutating func refill() {
        before += piece.count
        position = 0
        if let next = source.next() {
            text.take(next)
            piece = next
        } else {
            piece = []
            isAtEnd = true
        }
    }
}

/// Checks whether bytes that arrive in pieces are UTF-8.
struct UTF8Check {
    private static let partBytes = 65_536

    /// The incomplete character at the end of the last piece, at most three bytes.
    private var unfinished: [UInt8] = []
    private var isBroken = false

    /// Whether everything read so far is complete UTF-8.
    var holds: Bool { !isBroken && unfinished.isEmpty }

    mutating func take(_ piece: [UInt8]) {
        // In parts, because the check copies the bytes.
        var rest = piece[...]
        while !rest.isEmpty, !isBroken {
            take(part: rest.prefix(Self.partBytes))
            rest = rest.dropFirst(Self.partBytes)
        }
    }

    private mutating func take(part: ArraySlice<UInt8>) {
        let bytes = unfinished.isEmpty ? part : (unfinished + part)[...]
        let whole = bytes.dropLast(Self.unfinishedBytes(atEndOf: bytes))
        isBroken = String(validating: whole, as: UTF8.self) == nil
        unfinished = Array(bytes[whole.endIndex...])
    }

    /// The number of bytes at the end that start an incomplete character.
    private static func unfinishedBytes(atEndOf bytes: ArraySlice<UInt8>) -> Int {
        for (count, byte) in zip(1...3, bytes.reversed()) {
            if byte & 0b1100_0000 == 0b1000_0000 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > count ? count : 0
        }
        return 0
    }
}
