import NIOCore
import NIOPosix
import SystemPackage

/// A response cut into pieces that are kept in memory one at a time.
///
/// The head is sent with the first piece.
///
/// Files are read here because TLS needs their bytes. The front sends files by `sendfile`, see ``FileSending``.
struct ResponsePieces: Sendable {
    /// Bytes of the body in a piece.
    static let size = 128 * 1024

    private var head: ByteBuffer?
    private let body: Response.Body
    private let count: Int
    private var cut = 0
    /// Bytes of the body that the kernel has accepted.
    private(set) var writtenBodyBytes = 0

    /// - Precondition: `body` is not a stream.
    init(head: ByteBuffer, body: Response.Body) {
        if case .stream = body { preconditionFailure("a stream makes its own pieces") }
        self.head = head
        self.body = body
        count = body.count ?? 0
    }

    var isComplete: Bool { head == nil && writtenBodyBytes == count }

    /// Returns the next piece, or nil after the last.
    mutating func next() async throws(OpenFileError) -> ByteBuffer? {
        let start = cut
        let end = min(cut + Self.size, count)
        guard head != nil || start < end else { return nil }
        var piece = head ?? ByteBuffer()
        switch body {
        case .none, .stream:
            break
        case .bytes(let bytes):
            piece.writeBytes(bytes.dropFirst(start).prefix(end - start))
        case .file(let file, let range):
            let wanted = range.lowerBound + start..<range.lowerBound + end
            if !wanted.isEmpty { piece = try await Self.read(wanted, of: file, after: piece) }
        }
        head = nil
        cut = end
        return piece
    }

    /// Counts the piece of the last ``next()`` as sent.
    mutating func wasWritten() {
        writtenBodyBytes = cut
    }

    private static func read(
        _ range: Range<Int>,
        of file: OpenFile,
        after prefix: ByteBuffer
    ) async throws(OpenFileError) -> ByteBuffer {
        do {
            return try await NIOThreadPool.singleton.runIfActive { try file.read(range, after: prefix) }
        } catch {
            throw error as? OpenFileError ?? .failed(.ioError)
        }
    }
}
