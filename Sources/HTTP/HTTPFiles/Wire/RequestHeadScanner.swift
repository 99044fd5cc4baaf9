import NIOCore

/// Finds the end of a head in bytes that arrive in pieces, looking at each byte once.
///
/// Refuses early what can no longer become a head: a first byte that begins no method (a TLS hello), a bare LF, more
/// bytes than allowed.
struct RequestHeadScanner: Sendable {
    let maxHeadBytes: Int
    let maxTargetBytes: Int

    /// Bytes of the buffer that were looked at, from its reader index.
    private var scanned = 0
    private var lineStart = 0
    private var hasRequestLine = false

    init(maxHeadBytes: Int, maxTargetBytes: Int) {
        self.maxHeadBytes = maxHeadBytes
        self.maxTargetBytes = maxTargetBytes
    }

    /// Takes the next head out of `buffer`; nil if it is not complete yet.
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

    /// RFC 9112 §2.2: an empty line before the request line is a leftover of old clients.
    private mutating func skipEmptyLine(_ buffer: inout ByteBuffer) {
        while lineStart == 0, buffer.readableBytesView.starts(with: "\r\n".utf8) {
            buffer.moveReaderIndex(forwardBy: 2)
            scanned = 0
        }
    }
}
