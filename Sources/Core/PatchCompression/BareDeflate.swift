import CZlib

/// Deflate without a wrapper (RFC 1951), completely in memory: the files of a zip archive.
package enum BareDeflate {
    /// Compresses the bytes.
    ///
    /// The same version of zlib always gives the same stream.
    package static func compressed(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
        try DeflateEncoding(.none, level: 9).encode(bytes, isLast: true)
    }

    /// Decompresses the stream.
    ///
    /// - Parameter limit: the most bytes that the result may have.
    /// - Throws: also if bytes follow the stream, or if it is incomplete.
    package static func decompressed(_ bytes: [UInt8], limit: Int) throws(CompressionError) -> [UInt8] {
        let decoding = try DeflateDecoding(.none)
        var (output, offset): ([UInt8], Int) = ([], 0)
        while !decoding.hasEnded {
            // One byte more than allowed, so that a stream that is too long is detected.
            let room = min(Decompressor.piece, limit - output.count + 1)
            let (piece, taken) = try decoding.decode(bytes[offset...], upTo: room)
            offset += taken
            output += piece
            guard output.count <= limit else { throw .tooLong(.deflate, limit: limit) }
            if piece.isEmpty, taken == 0, !decoding.hasEnded { throw .incomplete(.deflate) }
        }
        guard offset == bytes.count else { throw .damaged(.deflate, reason: "bytes follow its end") }
        return output
    }
}

extension BareDeflate {
    /// Passes the bytes of the stream at the start of `bytes` to `body`, in pieces.
    ///
    /// Other bytes may follow the stream.
    ///
    /// - Parameter limit: the most bytes that the result may have.
    /// - Throws: also if the stream is incomplete.
    package static func read(
        _ bytes: ArraySlice<UInt8>,
        limit: Int,
        _ body: ([UInt8]) -> Void
    ) throws(CompressionError) {
        let decoding = try DeflateDecoding(.none)
        var (rest, count) = (bytes, 0)
        while !decoding.hasEnded {
            let room = min(Decompressor.piece, max(0, limit - count) + 1)
            let (piece, taken) = try decoding.decode(rest, upTo: room)
            rest = rest.dropFirst(taken)
            count += piece.count
            guard count <= limit else { throw .tooLong(.deflate, limit: limit) }
            if !piece.isEmpty { body(piece) }
            if piece.isEmpty, taken == 0, !decoding.hasEnded { throw .incomplete(.deflate) }
        }
    }
}

/// The checksum of gzip and of zip archives (ISO 3309).
package enum CRC32 {
    package static func of(_ bytes: [UInt8]) -> UInt32 {
        unsafe bytes.withUnsafeBufferPointer { unsafe UInt32(crc32_z(0, $0.baseAddress, $0.count)) }
    }
}
