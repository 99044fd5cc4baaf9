import CLZMA

/// One raw LZMA2 stream (as in `.xz`, without a container) with a prefix that both sides have, as liblzma's preset dictionary.
///
/// For large contents with many changes it is up to an eighth smaller than ``ZstandardPatch``. It contains neither the content's
/// size nor a digest: the reader knows the size, and must compare the digest.
package enum LZMAPatch {
    /// Compresses a content in memory.
    ///
    /// The tables need nine times the bytes of content and prefix: at most 300 MB if both have 16 MiB.
    ///
    /// - Returns: nil if the stream would have more bytes than `limit`.
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

    /// Decompresses one stream, which must end at the end of `frame`.
    ///
    /// - Parameters:
    ///   - prefix: the prefix given to ``frame(of:prefix:limit:)``.
    ///   - size: the exact size of the result. Memory use is twice this size, plus the size of the prefix.
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
        // The output buffer has exactly this size; liblzma asks for more if the content is longer.
        if result == LZMA_BUF_ERROR { throw .tooLong(.lzma2, limit: size) }
        // The input ended within the stream: liblzma reports "data error" for a complete buffer in this case.
        try check(result)
        guard read == frame.count else { throw .damaged(.lzma2, reason: "bytes follow its end") }
        guard output.count == size else { throw .incomplete(.lzma2) }
        return output
    }

    private static func check(_ result: lzma_ret) throws(CompressionError) {
        switch result {
        case LZMA_OK: return
        case LZMA_MEM_ERROR: throw .noMemory(.lzma2)
        default: throw .damaged(.lzma2, reason: "it is truncated or malformed")
        }
    }
}
