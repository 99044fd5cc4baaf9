import CZlib
import PatchFormat

@safe final class GzipDecoding: Decoding {
    private let stream: UnsafeMutablePointer<z_stream>
    private(set) var hasEnded = false
    private(set) var holdsOutput = false
    let takesMore = false

    init() throws(CompressionError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe patchline_inflate_init(stream) == Z_OK else {
            unsafe stream.deallocate()
            throw .noMemory(.gzip)
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
                // zlib counts in 32 bits and only reads what goes in.
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
        case Z_MEM_ERROR: throw .noMemory(.gzip)
        default: throw .damaged(.gzip, reason: unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "error")
        }
        holdsOutput = !hasEnded && output.count == room
        return (output, taken)
    }
}

@safe final class GzipEncoding: Encoding {
    private let stream: UnsafeMutablePointer<z_stream>

    init(level: Int32) throws(CompressionError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe patchline_deflate_init(stream, level) == Z_OK else {
            unsafe stream.deallocate()
            throw .noMemory(.gzip)
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
            default: throw .damaged(.gzip, reason: "error \(result)")
            }
        }
    }
}
