import HTTPCore
import NIOCore

/// Reads the body of one request while it arrives, within a limit from its first byte on (RFC 9112 §6.3 and §7.1).
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

    /// The limit for a chunk-size line, and for all trailers together.
    ///
    /// Extensions and trailers are dropped.
    private static let maxLineBytes = 1024

    private var state: State
    private var received = 0
    private let limit: Int

    var isComplete: Bool { state == .complete }

    /// Bytes still to arrive, or nil if a chunked body has not announced them yet.
    var remaining: Int? {
        switch state {
        case .complete: 0
        case .length(let remaining): remaining
        case .chunkSize, .chunkData, .trailer: nil
        }
    }

    /// - Parameter limit: The largest decoded body in bytes, or nil for no limit.
    /// - Throws: ``RequestFault/bodyTooLarge`` for a declared length over the limit, before any byte is read.
    init(_ framing: BodyFraming, limit: Int?) throws(RequestFault) {
        self.limit = limit ?? .max
        switch framing {
        case .none:
            state = .complete
        case .length(let length):
            guard length <= self.limit else { throw .bodyTooLarge }
            state = .length(remaining: length)
        case .chunked:
            state = .chunkSize
        }
    }

    /// Takes the next decoded bytes of this body out of `buffer`, and nothing of the request after it.
    ///
    /// Returns nil if more bytes must arrive, or if the body is complete.
    mutating func next(from buffer: inout ByteBuffer) throws(RequestFault) -> ByteBuffer? {
        while true {
            switch state {
            case .complete:
                return nil
            case .length(let remaining):
                guard let (piece, left) = take(remaining, from: &buffer) else { return nil }
                state = left == 0 ? .complete : .length(remaining: left)
                return piece
            case .chunkData(let remaining) where remaining > 0:
                guard let (piece, left) = take(remaining, from: &buffer) else { return nil }
                state = .chunkData(remaining: left)
                return piece
            case .chunkSize, .chunkData, .trailer:
                guard try readLine(from: &buffer) else { return nil }
            }
        }
    }

    /// Reads a line of the chunked framing.
    ///
    /// Returns false if it has not arrived.
    private mutating func readLine(from buffer: inout ByteBuffer) throws(RequestFault) -> Bool {
        switch state {
        case .complete, .length:
            return false
        case .chunkSize:
            guard let line = try Self.line(from: &buffer, maxBytes: Self.maxLineBytes) else { return false }
            let size = try Self.chunkSize(line)
            guard size <= limit - received else { throw .bodyTooLarge }
            state = size == 0 ? .trailer(used: 0) : .chunkData(remaining: size)
        case .chunkData:
            // Only the CRLF fits. A longer line means that the chunk is longer than its size.
            guard try Self.line(from: &buffer, maxBytes: 0) != nil else { return false }
            state = .chunkSize
        case .trailer(let used):
            guard let line = try Self.line(from: &buffer, maxBytes: Self.maxLineBytes - used) else { return false }
            state = line.isEmpty ? .complete : .trailer(used: used + line.count)
        }
        return true
    }

    private mutating func take(_ wanted: Int, from buffer: inout ByteBuffer) -> (ByteBuffer, left: Int)? {
        let count = min(wanted, buffer.readableBytes)
        guard count > 0, let piece = buffer.readSlice(length: count) else { return nil }
        received += count
        return (piece, wanted - count)
    }

    /// Returns the next line without its CRLF, or nil if it is incomplete.
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

    /// Parses `1*HEXDIG [ extensions ]`.
    ///
    /// A number too large for `Int` is over every limit.
    private static func chunkSize(_ line: [UInt8]) throws(RequestFault) -> Int {
        let digits = line.prefix { $0.hexDigitValue != nil }
        let rest = line[digits.endIndex...].trimmed
        guard !digits.isEmpty, rest.isEmpty || rest.first == UInt8(ascii: ";") else {
            throw .malformed("a chunk has no size")
        }
        return Int(String(decoding: digits, as: UTF8.self), radix: 16) ?? .max
    }
}
