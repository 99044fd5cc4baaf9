package import PatchFormat

/// The content coding `dcz`: a header with the SHA-256 of the dictionary, and a zstd frame compressed against it (RFC 9842 §5).
package enum DictionaryCompressed {
    package static let coding = "dcz"
    /// The header of a skippable zstd frame of 32 bytes.
    private static let magic: [UInt8] = [0x5E, 0x2A, 0x4D, 0x18, 0x20, 0x00, 0x00, 0x00]

    package static func bytes(
        of content: [UInt8],
        dictionary: [UInt8],
        named digest: SHA256Digest,
        level: Int
    ) throws(CompressionError) -> [UInt8] {
        // Every reader supports a window of 8 MiB, and of five quarters of a larger dictionary.
        let window = max(8_388_608, dictionary.count / 4 * 5)
        let frame = try ZstandardPatch.frame(
            of: content,
            prefix: dictionary,
            level: level,
            windowLog: min(ZstandardPatch.windowLog, Int.bitWidth - 1 - window.leadingZeroBitCount)
        )
        return magic + digest.bytes + frame
    }

    /// - Parameter limit: the most bytes that the result may have.
    package static func content(
        of bytes: [UInt8],
        dictionary: [UInt8],
        named digest: SHA256Digest,
        limit: Int
    ) throws(CompressionError) -> [UInt8] {
        let header = magic + digest.bytes
        guard bytes.starts(with: header) else {
            throw .damaged(.zstandard, reason: "it does not name the dictionary that was offered")
        }
        return try ZstandardPatch.content(of: Array(bytes.dropFirst(header.count)), prefix: dictionary, limit: limit)
    }
}
