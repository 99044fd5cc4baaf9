/// Parses a form while it arrives, in pieces of any size and with little memory.
///
/// ```
/// before ──boundary──▶ line ──CRLF──▶ head ──empty line──▶ content ──boundary──▶ line ──"--"──▶ over
/// ```
struct MultipartForm: Sendable {
    enum Event: Equatable, Sendable {
        case part(PartHead)
        /// Bytes of the current part; never empty.
        case content([UInt8])
        /// The part is complete.
        case partEnd
    }

    private enum State {
        /// Before the first boundary. The bytes are ignored.
        case before
        /// After a boundary.
        case line
        case head
        case content
        /// After the last boundary. The bytes are ignored.
        case over
    }

    /// The most bytes of a part's head, and of the text before the first boundary.
    static let headLimit = 8 * 1_024
    static let partLimit = 32

    private let delimiter: [UInt8]
    private var state = State.before
    private var parts = 0
    /// Bytes that are not parsed yet: less than a delimiter, or an incomplete head.
    private var rest: [UInt8]

    init(_ boundary: MultipartBoundary) {
        delimiter = boundary.delimiter
        // The first boundary has no preceding line break.
        rest = Array("\r\n".utf8)
    }

    /// Whether the last boundary was read.
    var isOver: Bool { if case .over = state { true } else { false } }

    mutating func take(_ piece: some Collection<UInt8>) throws(MultipartFault) -> [Event] {
        rest += piece
        var input = rest[...]
        var events: [Event] = []
        while try step(&input, &events) {}
        rest = Array(input)
        return events
    }

    /// - Returns: Whether the remaining bytes can be parsed further.
    private mutating func step(_ input: inout ArraySlice<UInt8>, _ events: inout [Event]) throws(MultipartFault) -> Bool
    {
        switch state {
        case .before:
            guard let (_, after) = input.split(at: delimiter) else {
                guard input.count <= Self.headLimit else { throw .noDelimiter }
                return false
            }
            input = after
            state = .line
        case .line:
            guard input.count >= 2 else { return false }
            if input.starts(with: "--".utf8) {
                input = []
                state = .over
                return false
            }
            guard input.starts(with: "\r\n".utf8) else { throw .badDelimiter }
            parts += 1
            guard parts <= Self.partLimit else { throw .tooManyParts }
            // The line break is kept, because a head may be empty.
            state = .head
        case .head:
            guard let (head, after) = input.split(at: Array("\r\n\r\n".utf8)) else {
                guard input.count <= Self.headLimit else { throw .longHead }
                return false
            }
            guard head.count <= Self.headLimit else { throw .longHead }
            events.append(.part(try PartHead(head)))
            input = after
            state = .content
        case .content:
            guard let (content, after) = input.split(at: delimiter) else {
                let known = input.dropLast(input.tail(thatBegins: delimiter))
                if !known.isEmpty { events.append(.content(Array(known))) }
                input = input[known.endIndex...]
                return false
            }
            if !content.isEmpty { events.append(.content(Array(content))) }
            events.append(.partEnd)
            input = after
            state = .line
        case .over:
            input = []
            return false
        }
        return true
    }
}

extension ArraySlice<UInt8> {
    /// Returns the bytes before and after the first `separator`, or nil if there is none.
    fileprivate func split(at separator: [UInt8]) -> (ArraySlice, ArraySlice)? {
        var from = startIndex
        while let start = self[from...].firstIndex(of: separator[0]) {
            let end = start + separator.count
            guard end <= endIndex else { return nil }
            if self[start..<end].elementsEqual(separator) { return (self[..<start], self[end...]) }
            from = start + 1
        }
        return nil
    }

    /// Returns the number of bytes at the end that may be the start of an incomplete `separator`.
    fileprivate func tail(thatBegins separator: [UInt8]) -> Int {
        var count = Swift.min(separator.count - 1, self.count)
        while count > 0, !separator.starts(with: suffix(count)) { count -= 1 }
        return count
    }
}
