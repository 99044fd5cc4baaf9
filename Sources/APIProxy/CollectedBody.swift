import AsyncHTTPClient
import NIOCore

/// The body of an upstream's answer, of which as much is read as is wanted before anything is sent.
actor CollectedBody {
    private var pieces: HTTPClientResponse.Body.AsyncIterator
    private var read: [ByteBuffer] = []
    private var count = 0

    init(_ body: HTTPClientResponse.Body) {
        pieces = body.makeAsyncIterator()
    }

    /// All of its bytes; nil where there are more than this.
    func all(limit: Int) async throws -> [UInt8]? {
        while let piece = try await piece() {
            read.append(piece)
            count += piece.readableBytes
            guard count <= limit else { return nil }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for piece in read { bytes += piece.readableBytesView }
        return bytes
    }

    /// What was read, and then what comes.
    func next() async throws -> ByteBuffer? {
        guard read.isEmpty else { return read.removeFirst() }
        return try await piece()
    }

    private func piece() async throws -> ByteBuffer? {
        var pieces = pieces
        let piece = try await pieces.next(isolation: self)
        self.pieces = pieces
        return piece
    }
}
