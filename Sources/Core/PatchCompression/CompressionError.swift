package import PatchFormat

/// Why compressed bytes were refused.
package enum CompressionError: Error, Equatable, Sendable {
    /// What they were to be.
    package enum Codec: String, Equatable, Sendable {
        case zstandard = "zstd"
        case gzip
        case deflate
        case lzma2 = "LZMA2"
    }

    /// They are not of the format, or were damaged on their way.
    case damaged(Codec, reason: String)
    /// More comes out of them than may.
    case tooLong(Codec, limit: Int)
    /// They are more than the plain bytes may be.
    case notSmaller(Codec, limit: Int)
    /// They end before their last frame does.
    case incomplete(Codec)
    /// The library has no memory for its tables.
    case noMemory(Codec)
}

extension CompressionError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .damaged(let codec, let reason): "not \(codec.rawValue): \(reason)"
        case .tooLong(let codec, let limit): "more than \(limit) bytes come out of the \(codec.rawValue) stream"
        case .notSmaller(let codec, let limit):
            "the \(codec.rawValue) stream has more than the \(limit) bytes of the file"
        case .incomplete(let codec): "the \(codec.rawValue) stream ends early"
        case .noMemory(let codec): "no memory for \(codec.rawValue)"
        }
    }
}

extension CompressionFormat {
    package var codec: CompressionError.Codec {
        switch self {
        case .zstandard: .zstandard
        case .gzip: .gzip
        }
    }
}
