package import PatchFormat

/// Why compressed bytes were rejected.
package enum CompressionError: Error, Equatable, Sendable {
    /// The expected format.
    package enum Codec: String, Equatable, Sendable {
        case zstandard = "zstd"
        case gzip
        case deflate
        case lzma2 = "LZMA2"
    }

    /// The bytes are not in the format, or were damaged.
    case damaged(Codec, reason: String)
    /// The decompressed bytes exceed the limit.
    case tooLong(Codec, limit: Int)
    /// The compressed bytes exceed the limit of the plain bytes.
    case notSmaller(Codec, limit: Int)
    /// The bytes end before their last frame does.
    case incomplete(Codec)
    /// The library could not allocate memory for its tables.
    case noMemory(Codec)
}

extension CompressionError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .damaged(let codec, let reason): "not \(codec.rawValue): \(reason)"
        case .tooLong(let codec, let limit): "the \(codec.rawValue) stream expands to more than \(limit) bytes"
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
