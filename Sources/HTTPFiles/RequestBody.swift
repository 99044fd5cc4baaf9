import NIOCore

/// The body of one request while it arrives, bounded from its first byte (RFC 9112 §6.3 and §7.1).
///
/// ```
/// length(n) ──bytes──▶ length(0) = complete
/// size ──"0"──▶ trailer ──empty line──▶ complete
///  ▲ └──"n"──▶ data(n) ──▶ data(0) ──CRLF──┐
///  └───────────────────────────────────────┘
/// ```
struct RequestBody: Sendable {
    private enum State: Equatable {
        case length(remaining: Int)
        case chunkSize
        case chunkData(remaining: Int)
        case trailer(used: Int)
        case complete
    }

    /// A chunk-size line and all trailers together may be this many bytes; extensions and trailers are dropped.
    private static let maxLineBytes = 1024

    private(set) var bytes: [UInt8] = []
    private var state: State
    private let limit: Int

    var isComplete: Bool { state == .complete }

    /// - Parameter limit: bytes of the decoded body.
    /// - Throws: ``RequestFault/bodyTooLarge`` for a declared length over the limit, before any byte is read.
    init(_ framing: BodyFraming, limit: Int) throws(RequestFault) {
        self.limit = limit
        switch framing {
        case .none:
            state = .complete
        case .length(let length):
            guard length <= limit else { throw .bodyTooLarge }
            state = .length(remaining: length)
        case .chunked:
            state = .chunkSize
        }
    }

    /// Takes what belongs to this body out of `buffer`, and nothing of the request after it.
    mutating func read(from buffer: inout ByteBuffer) throws(RequestFault) {
        while try step(&buffer) {}
    }

    /// One transition; false when more bytes are needed or the body is complete.
    private mutating func step(_ buffer: inout ByteBuffer) throws(RequestFault) -> Bool {
        switch state {
        case .complete:
            return false
        case .length(let remaining):
            let left = take(remaining, from: &buffer)
            state = left == 0 ? .complete : .length(remaining: left)
            return left == 0
        case .chunkSize:
            guard let line = try Self.line(from: &buffer, maxBytes: Self.maxLineBytes) else { return false }
            let size = try Self.chunkSize(line)
            guard size <= limit - bytes.count else { throw .bodyTooLarge }
            state = size == 0 ? .trailer(used: 0) : .chunkData(remaining: size)
            return true
        case .chunkData(remaining: 0):
            // Only the CRLF fits; more means that the chunk is longer than its size.
            guard try Self.line(from: &buffer, maxBytes: 0) != nil else { return false }
            state = .chunkSize
            return true
        case .chunkData(let remaining):
            let left = take(remaining, from: &buffer)
            state = .chunkData(remaining: left)
            return left == 0
        case .trailer(let used):
            guard let line = try Self.line(from: &buffer, maxBytes: Self.maxLineBytes - used) else { return false }
            state = line.isEmpty ? .complete : .trailer(used: used + line.count)
            return true
        }
    }

    private mutating func take(_ wanted: Int, from buffer: inout ByteBuffer) -> Int {
        let count = min(wanted, buffer.readableBytes)
        bytes += buffer.readBytes(length: count) ?? []
        return wanted - count
    }

    /// The next line without its CRLF; nil if it is not complete yet.
    private static func line(from buffer: inout ByteBuffer, maxBytes: Int) throws(RequestFault) -> [UInt8]? {
        let view = buffer.readableBytesView
        guard let newline = view.prefix(maxBytes + 2).firstIndex(of: UInt8(ascii: "\n")) else {
            guard view.count < maxBytes + 2 else { throw .malformed("a chunk's line is too long") }
            return nil
        }
        guard newline > view.startIndex, view[newline - 1] == UInt8(ascii: "\r") else {
            throw .malformed("a chunk's line does not end in CRLF")
        }
        let line = Array(view[..<(newline - 1)])
        guard line.allSatisfy(\.isFieldValueCharacter) else { throw .malformed("a chunk's line holds a control") }
        buffer.moveReaderIndex(forwardBy: line.count + 2)
        return line
    }

    /// `1*HEXDIG [ extensions ]`; more digits than `Int` holds are beyond every limit.
    private static func chunkSize(_ line: [UInt8]) throws(RequestFault) -> Int {
        let digits = line.prefix { $0.hexDigitValue != nil }
        let rest = line[digits.endIndex...].trimmed
        guard !digits.isEmpty, rest.isEmpty || rest.first == UInt8(ascii: ";") else {
            throw .malformed("a chunk has no size")
        }
        return Int(String(decoding: digits, as: UTF8.self), radix: 16) ?? .max
    }
}
