import CZstd
import PatchFormat

/// One zstd frame made against a raw prefix: bytes that both sides have before it (`ZSTD_CCtx_refPrefix`).
///
/// The frame names the size of its content, and has no dictionary id; a checksum only where it is asked for. A wrong prefix may
/// come out as wrong bytes without an error, so whoever reads one compares a digest.
package enum ZstandardPatch {
    /// 32 MiB: what a content and its prefix may span together.
    package static let windowLog = 25

    /// The most bytes that a frame of so much content has.
    package static func bound(of size: Int) -> Int { ZSTD_compressBound(size) }

    /// The frame of a content that lies in memory.
    ///
    /// Its tables take at most 200 MB: level 22 by itself would take 400.
    ///
    /// - Parameter largest: of the window that whoever reads it must have, as an exponent of two.
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
            // The prefix holds for one frame, and must stay where it is until that has ended.
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

    /// What comes out of one frame with nothing behind it.
    ///
    /// - Parameters:
    ///   - size: of what must come out; nothing is allocated where the frame names another, or a window over 2^25.
    ///   - prefix: that of ``frame(of:prefix:level:isChecked:windowLog:)``.
    package static func content(
        of frame: [UInt8],
        prefix: [UInt8],
        size: Int
    ) throws(CompressionError) -> [UInt8] {
        // In one go, libzstd takes a window of any size.
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

    /// The same where the size is not known before.
    ///
    /// - Parameter limit: the most bytes that the frame may name.
    package static func content(
        of frame: [UInt8],
        prefix: [UInt8],
        limit: Int
    ) throws(CompressionError) -> [UInt8] {
        guard let size = ZstandardFrame(frame)?.contentSize else {
            throw .damaged(.zstandard, reason: "it does not begin as a frame that names its size")
        }
        guard size <= limit else { throw .tooLong(.zstandard, limit: limit) }
        return try content(of: frame, prefix: prefix, size: size)
    }

    private static func check(_ result: Int) throws(CompressionError) {
        guard ZSTD_isError(result) == 0 else {
            throw .damaged(.zstandard, reason: unsafe String(cString: ZSTD_getErrorName(result)))
        }
    }

    /// The smallest window that holds so many bytes, as an exponent of two.
    private static func logarithm(of count: Int) -> Int { Int.bitWidth - max(0, count - 1).leadingZeroBitCount }
}
