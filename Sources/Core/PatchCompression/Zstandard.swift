import CZstd
import PatchFormat

@safe final class ZstandardDecoding: Decoding {
    /// 8 MiB: the window of HTTP's content coding (RFC 9659).
    static let windowLog: Int32 = 23

    private let context: OpaquePointer
    private(set) var hasEnded = false
    private(set) var holdsOutput = false
    let takesMore: Bool

    init(takesMore: Bool) throws(CompressionError) {
        self.takesMore = takesMore
        guard let context = unsafe ZSTD_createDCtx() else { throw .noMemory(.zstandard) }
        unsafe self.context = context
        _ = unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.windowLog)
    }

    deinit { _ = unsafe ZSTD_freeDCtx(context) }

    func decode(_ input: ArraySlice<UInt8>, upTo room: Int) throws(CompressionError) -> (output: [UInt8], taken: Int) {
        var result = 0
        var taken = 0
        let output = unsafe [UInt8](unsafeUninitializedCapacity: room) { space, count in
            unsafe input.withUnsafeBytes { bytes in
                var source = unsafe ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
                var target = unsafe ZSTD_outBuffer(dst: space.baseAddress, size: room, pos: 0)
                result = unsafe ZSTD_decompressStream(context, &target, &source)
                (taken, count) = unsafe (source.pos, target.pos)
            }
        }
        guard ZSTD_isError(result) == 0 else {
            throw .damaged(.zstandard, reason: unsafe String(cString: ZSTD_getErrorName(result)))
        }
        if taken > 0 || !output.isEmpty { hasEnded = result == 0 }
        holdsOutput = output.count == room
        return (output, taken)
    }
}

@safe final class ZstandardEncoding: Encoding {
    private let context: OpaquePointer

    init(level: Int, size: Int) throws(CompressionError) {
        guard let context = unsafe ZSTD_createCCtx() else { throw .noMemory(.zstandard) }
        unsafe self.context = context
        _ = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Int32(level))
        _ = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        // The levels of ``Compressor/Effort`` have no larger window than ``ZstandardDecoding/windowLog``.
        _ = unsafe ZSTD_CCtx_setPledgedSrcSize(context, UInt64(size))
    }

    deinit { _ = unsafe ZSTD_freeCCtx(context) }

    func encode(_ input: [UInt8], isLast: Bool) throws(CompressionError) -> [UInt8] {
        var output: [UInt8] = []
        var offset = 0
        while true {
            var result = 0
            let room = ZSTD_CStreamOutSize()
            output += unsafe [UInt8](unsafeUninitializedCapacity: room) { space, count in
                unsafe input.withUnsafeBytes { bytes in
                    var source = unsafe ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: offset)
                    var target = unsafe ZSTD_outBuffer(dst: space.baseAddress, size: room, pos: 0)
                    let end = isLast ? ZSTD_e_end : ZSTD_e_continue
                    result = unsafe ZSTD_compressStream2(context, &target, &source, end)
                    (offset, count) = unsafe (source.pos, target.pos)
                }
            }
            guard ZSTD_isError(result) == 0 else {
                throw .damaged(.zstandard, reason: unsafe String(cString: ZSTD_getErrorName(result)))
            }
            if isLast ? result == 0 : offset == input.count { return output }
        }
    }
}
