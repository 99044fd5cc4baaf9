import CZstd
import PatchFormat

/// One zstd frame with a raw prefix that both sides have (`ZSTD_CCtx_refPrefix`).
///
/// The frame declares the size of its content, has no dictionary id, and contains a checksum only on request. A wrong prefix may
/// give wrong bytes without an error, so readers must compare a digest.
package enum ZstandardPatch {
    /// 32 MiB: the window for content and prefix together.
    package static let windowLog = 25

    /// The largest size of a frame for a content of this size.
    package static func bound(of size: Int) -> Int { ZSTD_compressBound(size) }

    /// Compresses a content in memory.
    ///
    /// The tables need at most 200 MB: level 22 by itself would need 400.
    ///
    /// - Parameter largest: the largest window that a reader must support, as an exponent of two.
    package static func frame(
        of content: [UInt8],
        prefix: [UInt8],
        level: Int,
        isChecked: Bool = false,
        windowLog largest: Int = windowLog
    ) throws(CompressionError) -> [UInt8] {
        guard let context = unsafe ZSTD_createCCtx() else { throw .noMemory(.zstandard) }
        defer { _ = unsafe ZSTD_freeCCtx(context) }
        let window = min(largest, max(10, logarithm(of: content.count + prefix.count)))
        for (parameter, value) in [
            (ZSTD_c_compressionLevel, level), (ZSTD_c_windowLog, window),
            (ZSTD_c_chainLog, window), (ZSTD_c_hashLog, min(window, 24)),
            (ZSTD_c_enableLongDistanceMatching, prefix.isEmpty ? 0 : 1), (ZSTD_c_checksumFlag, isChecked ? 1 : 0),
        ] {
            try check(unsafe ZSTD_CCtx_setParameter(context, parameter, Int32(value)))
        }
        try check(unsafe ZSTD_CCtx_setPledgedSrcSize(context, UInt64(content.count)))
        var result = 0
        let output = unsafe [UInt8](unsafeUninitializedCapacity: bound(of: content.count)) { space, count in
            // The prefix is valid for one frame, and must stay in place until the frame has ended.
            unsafe prefix.withUnsafeBytes { prefix in
                unsafe content.withUnsafeBytes { content in
                    result = unsafe ZSTD_CCtx_refPrefix(context, prefix.baseAddress, prefix.count)
                    guard ZSTD_isError(result) == 0 else { return }
                    result = unsafe ZSTD_compress2(
                        context,
                        space.baseAddress,
                        space.count,
                        content.baseAddress,
                        content.count
                    )
                }
            }
            count = ZSTD_isError(result) == 0 ? result : 0
        }
        try check(result)
        return output
    }

    /// Decompresses one frame, which must end at the end of `frame`.
    ///
    /// - Parameters:
    ///   - size: the exact size of the result. No memory is allocated if the frame declares another size, or a window over 2^25.
    ///   - prefix: the prefix given to ``frame(of:prefix:level:isChecked:windowLog:)``.
    package static func content(
        of frame: [UInt8],
        prefix: [UInt8],
        size: Int
    ) throws(CompressionError) -> [UInt8] {
        // When it decompresses a whole buffer, libzstd accepts a window of any size, so it is checked first.
        try ZstandardFrame.check(frame, size: size, windowLog: windowLog)
        let length = unsafe frame.withUnsafeBytes { unsafe ZSTD_findFrameCompressedSize($0.baseAddress, $0.count) }
        try check(length)
        guard length == frame.count else { throw .damaged(.zstandard, reason: "bytes follow its end") }
        guard let context = unsafe ZSTD_createDCtx() else { throw .noMemory(.zstandard) }
        defer { _ = unsafe ZSTD_freeDCtx(context) }
        var result = 0
        let output = unsafe [UInt8](unsafeUninitializedCapacity: size) { space, count in
            unsafe prefix.withUnsafeBytes { prefix in
                unsafe frame.withUnsafeBytes { frame in
                    result = unsafe ZSTD_DCtx_refPrefix(context, prefix.baseAddress, prefix.count)
                    guard ZSTD_isError(result) == 0 else { return }
                    result = unsafe ZSTD_decompressDCtx(
                        context,
                        space.baseAddress,
                        size,
                        frame.baseAddress,
                        frame.count
                    )
                }
            }
            count = ZSTD_isError(result) == 0 ? result : 0
        }
        try check(result)
        guard output.count == size else { throw .incomplete(.zstandard) }
        return output
    }

    /// Decompresses one frame of unknown size.
    ///
    /// - Parameter limit: the largest size that the frame may declare.
    package static func content(
        of frame: [UInt8],
        prefix: [UInt8],
        limit: Int
    ) throws(CompressionError) -> [UInt8] {
        guard let size = ZstandardFrame(frame)?.contentSize else {
            throw .damaged(.zstandard, reason: "it does not begin with a frame that declares its size")
        }
        guard size <= limit else { throw .tooLong(.zstandard, limit: limit) }
        return try content(of: frame, prefix: prefix, size: size)
    }

    private static func check(_ result: Int) throws(CompressionError) {
        guard ZSTD_isError(result) == 0 else {
            throw .damaged(.zstandard, reason: unsafe String(cString: ZSTD_getErrorName(result)))
        }
    }

    /// The smallest window for this number of bytes, as an exponent of two.
    private static func logarithm(of count: Int) -> Int { Int.bitWidth - max(0, count - 1).leadingZeroBitCount }
}
