import NIOCore
import PatchCompression
import PatchFormat

/// A page's bytes as they are shown, from those that travelled.
actor PageDecoder {
    private var decompressor: Decompressor?

    init(_ coding: PageCoding) throws(CompressionError) {
        // Whoever gets the bytes bounds them.
        decompressor = coding == .gzip ? try Decompressor(.gzip, limit: Int.max / 2) : nil
    }

    func decoded(_ piece: ByteBuffer) throws(CompressionError) -> [ByteBuffer] {
        guard decompressor != nil else { return [piece] }
        decompressor?.feed(Array(piece.readableBytesView))
        var pieces: [ByteBuffer] = []
        while let bytes = try decompressor?.next() { pieces.append(ByteBuffer(bytes: bytes)) }
        return pieces
    }

    func finish() throws(CompressionError) { try decompressor?.finish() }
}
