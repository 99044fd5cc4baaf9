/// A form that is read while it arrives, in pieces of any size, in little memory.
///
/// ```
/// before ──boundary──▶ line ──CRLF──▶ head ──empty line──▶ content ──boundary──▶ line ──"--"──▶ over
/// ```
struct MultipartForm: Sendable {
    enum Event: Equatable, Sendable {
        case part(PartHead)
        /// Of the part begun last; never empty.
        case content([UInt8])
        /// The part is whole.
        case partEnd
    }

    private enum State {
        /// What comes before the first boundary means nothing.
        case before
        /// After a boundary.
        case line
        case head
        case content
        /// What comes after the last boundary means nothing.
        case over
    }

    /// Bytes of a part's fields, and of what comes before the first boundary.
    static let headLimit = 8 * 1_024
    static let partLimit = 32

    private let delimiter: [UInt8]
    private var state = State.before
    private var parts = 0
    /// What is not decided on yet: less than a delimiter, or a head so far.
    private var rest: [UInt8]

    init(_ boundary: MultipartBoundary) {
        delimiter = boundary.delimiter
        // The first boundary has no line before it.
        rest = Array("\r\n".utf8)
    }

    /// Whether the last boundary was there.
    var isOver: Bool { if case .over = state { true } else { false } }

    mutating func take(_ piece: some Collection<UInt8>) throws(MultipartFault) -> [Event] {
        rest += piece
        var input = rest[...]
        var events: [Event] = []
        while try step(&input, &events) {}
        rest = Array(input)
        return events
    }

    /// - Returns: whether there is more to do with what is there.
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
            // Its line break stays: a head may be empty.
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
    /// What is before the first `separator`, and what is after it; nil without one.
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

    /// How many bytes at the end may be the start of a `separator` that is not whole.
    fileprivate func tail(thatBegins separator: [UInt8]) -> Int {
        var count = Swift.min(separator.count - 1, self.count)
        while count > 0, !separator.starts(with: suffix(count)) { count -= 1 }
        return count
    }
}
