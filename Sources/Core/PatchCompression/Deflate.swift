import CZlib
import PatchFormat

/// The wrapper around a deflate stream.
enum DeflateWrapping {
    /// RFC 1952.
    case gzip
    /// No wrapper: RFC 1951 alone, as in archives.
    case none

    /// zlib's windowBits (zlib.h, inflateInit2).
    fileprivate var window: Int32 {
        switch self {
        case .gzip: 15 + 16
        case .none: -15
        }
    }

    fileprivate var codec: CompressionError.Codec {
        switch self {
        case .gzip: .gzip
        case .none: .deflate
        }
    }
}

@safe final class DeflateDecoding: Decoding {
    private let stream: UnsafeMutablePointer<z_stream>
    private let codec: CompressionError.Codec
    private(set) var hasEnded = false
    private(set) var holdsOutput = false
    let takesMore = false

    init(_ wrapping: DeflateWrapping) throws(CompressionError) {
        codec = wrapping.codec
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe patchline_inflate_init(stream, wrapping.window) == Z_OK else {
            unsafe stream.deallocate()
            throw .noMemory(wrapping.codec)
        }
    }

    deinit {
        _ = unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    func decode(_ input: ArraySlice<UInt8>, upTo room: Int) throws(CompressionError) -> (output: [UInt8], taken: Int) {
        var result = Z_OK
        var taken = 0
        let output = unsafe [UInt8](unsafeUninitializedCapacity: room) { space, count in
            unsafe input.withUnsafeBytes { bytes in
                // zlib counts in 32 bits, and only reads its input.
                let offered = min(bytes.count, 1 << 30)
                unsafe stream.pointee.next_in = UnsafeMutablePointer(
                    mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress
                )
                unsafe stream.pointee.avail_in = UInt32(offered)
                unsafe stream.pointee.next_out = space.baseAddress
                unsafe stream.pointee.avail_out = UInt32(room)
                result = unsafe inflate(stream, Z_NO_FLUSH)
                taken = offered - Int(unsafe stream.pointee.avail_in)
                count = room - Int(unsafe stream.pointee.avail_out)
                unsafe stream.pointee.next_in = nil
                unsafe stream.pointee.next_out = nil
            }
        }
        switch result {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: hasEnded = true
        case Z_MEM_ERROR: throw .noMemory(codec)
        default: throw .damaged(codec, reason: unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "error")
        }
        holdsOutput = !hasEnded && output.count == room
        return (output, taken)
    }
}

@safe final class DeflateEncoding: Encoding {
    private let stream: UnsafeMutablePointer<z_stream>
    private let codec: CompressionError.Codec

    init(_ wrapping: DeflateWrapping, level: Int32) throws(CompressionError) {
        codec = wrapping.codec
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe patchline_deflate_init(stream, level, wrapping.window) == Z_OK else {
            unsafe stream.deallocate()
            throw .noMemory(wrapping.codec)
        }
    }

    deinit {
        _ = unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    func encode(_ input: [UInt8], isLast: Bool) throws(CompressionError) -> [UInt8] {
        let room = 131_072
        var output: [UInt8] = []
        var offset = 0
        while true {
            var result = Z_OK
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: room) { space, count in
                unsafe input.withUnsafeBufferPointer { bytes in
                    let offered = min(bytes.count - offset, 1 << 30)
                    unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress).map {
                        unsafe $0 + offset
                    }
                    unsafe stream.pointee.avail_in = UInt32(offered)
                    unsafe stream.pointee.next_out = space.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(room)
                    result = unsafe deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    offset += offered - Int(unsafe stream.pointee.avail_in)
                    count = room - Int(unsafe stream.pointee.avail_out)
                    unsafe stream.pointee.next_in = nil
                    unsafe stream.pointee.next_out = nil
                }
            }
            output += piece
            switch result {
            case Z_STREAM_END: return output
            case Z_OK, Z_BUF_ERROR: if !isLast, offset == input.count, piece.count < room { return output }
            default: throw .damaged(codec, reason: "error \(result)")
            }
        }
    }
}
