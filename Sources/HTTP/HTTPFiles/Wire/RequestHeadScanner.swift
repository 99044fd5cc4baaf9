import HTTPCore
import NIOCore

/// Finds the end of a head in bytes that arrive in pieces.
///
/// Each byte is examined once.
///
/// Rejects early any bytes that cannot become a head: a first byte that begins no method (a TLS hello), a bare LF, or more bytes
/// than allowed.
struct RequestHeadScanner: Sendable {
    let maxHeadBytes: Int
    let maxTargetBytes: Int

    /// The number of examined bytes in the buffer, from its reader index.
    private var scanned = 0
    private var lineStart = 0
    private var hasRequestLine = false

    init(maxHeadBytes: Int, maxTargetBytes: Int) {
        self.maxHeadBytes = maxHeadBytes
        self.maxTargetBytes = maxTargetBytes
    }

    /// Takes the next head out of `buffer`.
    ///
    /// Returns nil if it is incomplete.
    mutating func next(from buffer: inout ByteBuffer) throws(RequestFault) -> RequestHead? {
        skipEmptyLine(&buffer)
        let view = buffer.readableBytesView
        let start = view.startIndex
        if let first = view.first, !first.isTokenCharacter, first != UInt8(ascii: "\r") {
            throw .malformed("no method begins like this")
        }
        while scanned < view.count {
            guard scanned < maxHeadBytes else { throw hasRequestLine ? .headTooLarge : .targetTooLong }
            let index = scanned
            scanned += 1
            guard view[start + index] == UInt8(ascii: "\n") else { continue }
            guard index > lineStart, view[start + index - 1] == UInt8(ascii: "\r") else {
                throw .malformed("a line does not end in CRLF")
            }
            if index - 1 == lineStart {
                let head = buffer.readBytes(length: scanned) ?? []
                defer { self = RequestHeadScanner(maxHeadBytes: maxHeadBytes, maxTargetBytes: maxTargetBytes) }
                return try RequestHead(parsing: head[..<(lineStart - 2)], maxTargetBytes: maxTargetBytes)
            }
            hasRequestLine = true
            lineStart = scanned
        }
        return nil
    }

    /// Skips an empty line before the request line, which old clients send after a body (RFC 9112 §2.2).
    private mutating func skipEmptyLine(_ buffer: inout ByteBuffer) {
        while lineStart == 0, buffer.readableBytesView.starts(with: "\r\n".utf8) {
            buffer.moveReaderIndex(forwardBy: 2)
            scanned = 0
        }
    }
}
