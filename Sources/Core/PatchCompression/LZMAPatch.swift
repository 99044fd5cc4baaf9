import CLZMA

/// One raw LZMA2 stream (as in `.xz`, without a container) made against a raw prefix: bytes that both sides have before it, as
/// liblzma's preset dictionary.
///
/// Large contents of which much has changed take up to an eighth fewer bytes than ``ZstandardPatch`` makes of them. It names
/// neither its content's size nor a digest: the reader knows the first, and compares the second.
package enum LZMAPatch {
    /// The stream of a content that lies in memory.
    ///
    /// Its tables take nine times the bytes of content and prefix: at most 300 MB where both have 16 MiB.
    ///
    /// - Returns: nil where it would have more bytes than `limit`.
    package static func frame(
        of content: [UInt8],
        prefix: [UInt8],
        limit: Int
    ) throws(CompressionError) -> [UInt8]? {
        var (result, written) = (LZMA_OK, 0)
        let output = unsafe [UInt8](unsafeUninitializedCapacity: max(0, limit)) { space, count in
            unsafe prefix.withUnsafeBufferPointer { prefix in
                unsafe content.withUnsafeBufferPointer { content in
                    result = unsafe patchline_lzma2_encode(
                        prefix.baseAddress,
                        prefix.count,
                        content.baseAddress,
                        content.count,
                        space.baseAddress,
                        space.count,
                        &written
                    )
                }
            }
            count = result == LZMA_OK ? written : 0
        }
        if result == LZMA_BUF_ERROR { return nil }
        try check(result)
        return output
    }

    /// What comes out of one stream with nothing behind it.
    ///
    /// - Parameters:
    ///   - prefix: that of ``frame(of:prefix:limit:)``.
    ///   - size: of what must come out. Memory is that, and as much as it and the prefix have together.
    package static func content(
        of frame: [UInt8],
        prefix: [UInt8],
        size: Int
    ) throws(CompressionError) -> [UInt8] {
        var (result, read, written) = (LZMA_OK, 0, 0)
        let output = unsafe [UInt8](unsafeUninitializedCapacity: size) { space, count in
            unsafe prefix.withUnsafeBufferPointer { prefix in
                unsafe frame.withUnsafeBufferPointer { frame in
                    result = unsafe patchline_lzma2_decode(
                        prefix.baseAddress,
                        prefix.count,
                        frame.baseAddress,
                        frame.count,
                        space.baseAddress,
                        size,
                        &read,
                        &written
                    )
                }
            }
            count = result == LZMA_OK ? written : 0
        }
        // Room is there for the size alone: more is asked for where more would come.
        if result == LZMA_BUF_ERROR { throw .tooLong(.lzma2, limit: size) }
        // Its input ended within the stream: liblzma says "data error" for a whole buffer that does.
        try check(result)
        guard read == frame.count else { throw .damaged(.lzma2, reason: "bytes follow its end") }
        guard output.count == size else { throw .incomplete(.lzma2) }
        return output
    }

    private static func check(_ result: lzma_ret) throws(CompressionError) {
        switch result {
        case LZMA_OK: return
        case LZMA_MEM_ERROR: throw .noMemory(.lzma2)
        default: throw .damaged(.lzma2, reason: "it breaks off, or is none")
        }
    }
}
