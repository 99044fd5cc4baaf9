package import PatchFormat

/// Reads one compressed stream as it comes, and gives out no more than it may.
///
/// Memory does not grow with the stream: a zstd frame with a window above 8 MiB is refused, as RFC 9659 asks of HTTP's
/// content coding.
package struct Decompressor: ~Copyable {
    /// The most bytes that ``next()`` hands over at once.
    package static let piece = 131_072

    package let format: CompressionFormat
    /// Bytes that came out so far.
    package private(set) var produced = 0
    private let limit: Int
    private let codec: any Decoding
    private var input: [UInt8] = []
    private var offset = 0

    /// - Parameters:
    ///   - limit: the most bytes that may come out.
    ///   - isOneFrame: whether no second zstd frame may follow the first.
    package init(_ format: CompressionFormat, limit: Int, isOneFrame: Bool = false) throws(CompressionError) {
        self.format = format
        self.limit = limit
        codec =
            switch format {
            case .zstandard: try ZstandardDecoding(takesMore: !isOneFrame)
            case .gzip: try DeflateDecoding(.gzip)
            }
    }

    /// Takes the next bytes of the stream; ask ``next()`` until it has nothing more to give before the next ones.
    package mutating func feed(_ bytes: [UInt8]) {
        input = offset < input.count ? Array(input[offset...]) + bytes : bytes
        offset = 0
    }

    /// The next bytes that come out; nil when more of the stream is needed, or it is at its end.
    package mutating func next() throws(CompressionError) -> [UInt8]? {
        while true {
            let hasEnded = codec.hasEnded
            if hasEnded, offset < input.count, !codec.takesMore {
                throw .damaged(format.codec, reason: "bytes follow its end")
            }
            if offset == input.count, !codec.holdsOutput { return nil }
            // One more than may come: so that a stream that is too long shows.
            let room = min(Self.piece, limit - produced + 1)
            let (output, taken) = try codec.decode(input[offset...], upTo: room)
            offset += taken
            produced += output.count
            guard produced <= limit else { throw .tooLong(format.codec, limit: limit) }
            if !output.isEmpty { return output }
            if taken == 0, offset == input.count { return nil }
        }
    }

    /// Whether the stream came to its end, with nothing behind it.
    package var isComplete: Bool { codec.hasEnded && offset == input.count }

    /// - Throws: `incomplete` where the stream did not come to its end.
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
    /// Whether more may come out although nothing more goes in.
    var holdsOutput: Bool { get }

    /// - Returns: what came out, and how many bytes went in.
    func decode(_ input: ArraySlice<UInt8>, upTo room: Int) throws(CompressionError) -> (output: [UInt8], taken: Int)
}

extension CompressionFormat {
    /// All that comes out of a whole stream in memory.
    ///
    /// - Parameter limit: the most bytes that may come out.
    package func decompressed(_ bytes: [UInt8], limit: Int) throws(CompressionError) -> [UInt8] {
        var decompressor = try Decompressor(self, limit: limit)
        decompressor.feed(bytes)
        var output: [UInt8] = []
        while let piece = try decompressor.next() { output += piece }
        try decompressor.finish()
        return output
    }
}
