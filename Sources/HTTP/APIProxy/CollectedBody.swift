import AsyncHTTPClient
import NIOCore

/// The body of an upstream's answer, of which a limited part is kept for inspection.
actor CollectedBody {
    private let room: InspectionMemory
    private var pieces: HTTPClientResponse.Body.AsyncIterator
    /// The pieces that were read but not sent.
    private var read: [ByteBuffer] = []
    /// A copy of the sent bytes, or nil once it exceeds the limit.
    private(set) var copy: [UInt8]? = []
    /// The bytes reserved in `room`.
    ///
    /// They are given back when this object is released.
    private var taken = 0

    init(_ body: HTTPClientResponse.Body, room: InspectionMemory) {
        self.room = room
        pieces = body.makeAsyncIterator()
    }

    deinit {
        room.release(taken)
    }

    /// Returns the whole body, or nil if it exceeds `limit` or the room.
    func all(limit: Int) async throws -> [UInt8]? {
        while let piece = try await piece() {
            read.append(piece)
            guard hold(piece.readableBytes, limit: limit) else { return nil }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(taken)
        for piece in read { bytes += piece.readableBytesView }
        return bytes
    }

    /// Returns the pieces that were read, then the following ones.
    func next() async throws -> ByteBuffer? {
        guard read.isEmpty else { return read.removeFirst() }
        return try await piece()
    }

    /// Returns the next piece, and adds it to ``copy``.
    func nextCopied(limit: Int) async throws -> ByteBuffer? {
        guard let piece = try await next() else { return nil }
        if copy != nil, hold(piece.readableBytes, limit: limit) {
            copy?.append(contentsOf: piece.readableBytesView)
        } else {
            copy = nil
        }
        return piece
    }

    /// Reserves `count` more bytes.
    ///
    /// Returns false if that exceeds `limit` or the room.
    private func hold(_ count: Int, limit: Int) -> Bool {
        guard taken + count <= limit, room.take(count) else { return false }
        taken += count
        return true
    }

    private func piece() async throws -> ByteBuffer? {
        var pieces = pieces
        let piece = try await pieces.next(isolation: self)
        self.pieces = pieces
        return piece
    }
}
