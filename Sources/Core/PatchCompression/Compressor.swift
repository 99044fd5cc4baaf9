package import PatchFormat

/// Writes one compressed stream.
package struct Compressor: ~Copyable {
    /// Of zstd; gzip has its own best.
    package enum Effort: Int, CaseIterable, Sendable {
        case quick = 3
        case thorough = 12
        case most = 19
    }

    package let format: CompressionFormat
    private let codec: any Encoding

    /// - Parameter size: of what goes in, in bytes, exactly.
    package init(_ format: CompressionFormat, size: Int, effort: Effort = .most) throws(CompressionError) {
        self.format = format
        codec =
            switch format {
            case .zstandard: try ZstandardEncoding(level: effort.rawValue, size: size)
            case .gzip: try DeflateEncoding(.gzip, level: effort == .quick ? 6 : 9)
            }
    }

    /// What comes out of these bytes now; the rest comes out later.
    package func compress(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
        try codec.encode(bytes, isLast: false)
    }

    /// The end of the stream.
    package consuming func finish() throws(CompressionError) -> [UInt8] {
        try codec.encode([], isLast: true)
    }
}

/// A library's state of one stream.
protocol Encoding: AnyObject {
    func encode(_ input: [UInt8], isLast: Bool) throws(CompressionError) -> [UInt8]
}

extension CompressionFormat {
    /// The whole stream of bytes in memory.
    package func compressed(
        _ bytes: [UInt8],
        effort: Compressor.Effort = .most
    ) throws(CompressionError) -> [UInt8] {
        let compressor = try Compressor(self, size: bytes.count, effort: effort)
        let begin = try compressor.compress(bytes)
        return begin + (try compressor.finish())
    }
}

extension CompressionFormat {
    /// Whether a form is worth its own file and name: what hardly shrinks travels plain.
    ///
    /// - Parameters:
    ///   - form: its size, in bytes.
    ///   - plain: the file's.
    package static func pays(_ form: Int, for plain: Int) -> Bool { form + max(64, plain / 100) <= plain }
}
