import NIOCore
import PageDiff
import PatchCompression
import PatchFormat
import PatchCrypto

/// Decodes the bytes of a page that was transferred with a coding.
actor PageDecoder {
    private var decompressor: Decompressor?
    /// The page that the bytes are compressed against.
    ///
    /// Such a page is decoded as a whole once all bytes have arrived.
    private let page: [UInt8]?
    private var gathered: [UInt8] = []

    init(_ coding: PageCoding) throws(CompressionError) {
        switch coding {
        case .identity:
            decompressor = nil
            page = nil
        case .compressed(let format):
            // The receiver of the bytes limits them.
            decompressor = try Decompressor(format, limit: Int.max / 2)
            page = nil
        case .against(let known):
            decompressor = nil
            page = known
        }
    }

    /// Appends the decoded content of a piece.
    ///
    /// Waits for room, because a small piece may expand to many bytes.
    func append(_ piece: ByteBuffer, to flow: PageFlow) async throws {
        guard page == nil else {
            gathered += piece.readableBytesView
            guard gathered.count <= PageLimits.update else {
                throw CompressionError.tooLong(.zstandard, limit: PageLimits.update)
            }
            return
        }
        guard decompressor != nil else { return try await flow.append(piece) }
        decompressor?.feed(Array(piece.readableBytesView))
        while let bytes = try decompressor?.next() { try await flow.append(ByteBuffer(bytes: bytes)) }
    }

    /// Appends the content that is only decoded at the end.
    func finish(_ flow: PageFlow) async throws {
        try decompressor?.finish()
        guard let page else { return }
        let bytes = try DictionaryCompressed.content(
            of: gathered,
            dictionary: page,
            named: SHA256Digest(of: page),
            limit: PageLimits.update
        )
        try await flow.append(ByteBuffer(bytes: bytes))
    }
}
