package import PatchFormat

/// Decompresses one stream while it arrives, up to a limit.
///
/// Memory use is independent of the stream: a zstd frame with a window above 8 MiB is rejected, as RFC 9659 requires for HTTP's
/// content coding.
package struct Decompressor: ~Copyable {
    /// The most bytes that ``next()`` returns at once.
    package static let piece = 131_072

    package let format: CompressionFormat
    /// The number of bytes returned so far.
    package private(set) var produced = 0
    private let limit: Int
    private let codec: any Decoding
    private var input: [UInt8] = []
    private var offset = 0

    /// - Parameters:
    ///   - limit: the most bytes that the result may have.
    ///   - isOneFrame: whether a second zstd frame after the first is rejected.
    package init(_ format: CompressionFormat, limit: Int, isOneFrame: Bool = false) throws(CompressionError) {
        self.format = format
        self.limit = limit
        codec =
            switch format {
            case .zstandard: try ZstandardDecoding(takesMore: !isOneFrame)
            case .gzip: try DeflateDecoding(.gzip)
            }
    }

    /// Adds the next bytes of the stream.
    ///
    /// Call ``next()`` until it returns nil before adding more.
    package mutating func feed(_ bytes: [UInt8]) {
        input = offset < input.count ? Array(input[offset...]) + bytes : bytes
        offset = 0
    }

    /// Returns the next output, or nil if more of the stream is needed or it has ended.
    package mutating func next() throws(CompressionError) -> [UInt8]? {
        while true {
            let hasEnded = codec.hasEnded
            if hasEnded, offset < input.count, !codec.takesMore {
                throw .damaged(format.codec, reason: "bytes follow its end")
            }
            if offset == input.count, !codec.holdsOutput { return nil }
            // One byte more than allowed, so that a stream that is too long is detected.
            let room = min(Self.piece, limit - produced + 1)
            let (output, taken) = try codec.decode(input[offset...], upTo: room)
            offset += taken
            produced += output.count
            guard produced <= limit else { throw .tooLong(format.codec, limit: limit) }
            if !output.isEmpty { return output }
            if taken == 0, offset == input.count { return nil }
        }
    }

    /// Whether the stream has ended, and no bytes follow it.
    package var isComplete: Bool { codec.hasEnded && offset == input.count }

    /// - Throws: `incomplete` if the stream has not ended.
    package func finish() throws(CompressionError) {
        guard isComplete else { throw .incomplete(format.codec) }
    }
}

/// A library's state of one stream.
protocol Decoding: AnyObject {
    /// Whether the last frame that began has ended.
    var hasEnded: Bool { get }
    /// Whether another frame may follow one that has ended.
    var takesMore: Bool { get }
    /// Whether more output may exist without more input.
    var holdsOutput: Bool { get }

    /// - Returns: the output, and the number of consumed input bytes.
    func decode(_ input: ArraySlice<UInt8>, upTo room: Int) throws(CompressionError) -> (output: [UInt8], taken: Int)
}

extension CompressionFormat {
    /// Decompresses a whole stream in memory.
    ///
    /// - Parameter limit: the most bytes that the result may have.
    package func decompressed(_ bytes: [UInt8], limit: Int) throws(CompressionError) -> [UInt8] {
        var decompressor = try Decompressor(self, limit: limit)
        decompressor.feed(bytes)
        var output: [UInt8] = []
        while let piece = try decompressor.next() { output += piece }
        try decompressor.finish()
        return output
    }
}
