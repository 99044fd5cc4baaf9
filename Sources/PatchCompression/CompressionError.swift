package import PatchFormat

/// Why compressed bytes were refused.
package enum CompressionError: Error, Equatable, Sendable {
    /// They are not of the format, or were damaged on their way.
    case damaged(CompressionFormat, reason: String)
    /// More comes out of them than may.
    case tooLong(CompressionFormat, limit: Int)
    /// They are more than the plain bytes may be.
    case notSmaller(CompressionFormat, limit: Int)
    /// They end before their last frame does.
    case incomplete(CompressionFormat)
    /// The library has no memory for its tables.
    case noMemory(CompressionFormat)
}

extension CompressionError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .damaged(let format, let reason): "not \(format.rawValue): \(reason)"
        case .tooLong(let format, let limit): "more than \(limit) bytes come out of the \(format.rawValue) stream"
        case .notSmaller(let format, let limit):
            "the \(format.rawValue) stream has more than the \(limit) bytes of the file"
        case .incomplete(let format): "the \(format.rawValue) stream ends early"
        case .noMemory(let format): "no memory for \(format.rawValue)"
        }
    }
}
