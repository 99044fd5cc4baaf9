import AsyncHTTPClient
import NIOCore

/// The body of an upstream's answer, of which as much is held as somebody wants to look at.
actor CollectedBody {
    private let room: CollectingRoom
    private var pieces: HTTPClientResponse.Body.AsyncIterator
    /// What was read and not sent.
    private var read: [ByteBuffer] = []
    /// A copy of what was sent; nil once it is too much.
    private(set) var copy: [UInt8]? = []
    /// Of the room, until this is gone.
    private var taken = 0

    init(_ body: HTTPClientResponse.Body, room: CollectingRoom) {
        self.room = room
        pieces = body.makeAsyncIterator()
    }

    deinit {
        room.giveBack(taken)
    }

    /// All of its bytes; nil where there are more than this, or there is no room for them.
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

    /// What was read, and then what comes.
    func next() async throws -> ByteBuffer? {
        guard read.isEmpty else { return read.removeFirst() }
        return try await piece()
    }

    /// The same, and a copy of it goes to ``copy``.
    func nextCopied(limit: Int) async throws -> ByteBuffer? {
        guard let piece = try await next() else { return nil }
        if copy != nil, hold(piece.readableBytes, limit: limit) {
            copy?.append(contentsOf: piece.readableBytesView)
        } else {
            copy = nil
        }
        return piece
    }

    /// Whether so many more bytes may be held.
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
