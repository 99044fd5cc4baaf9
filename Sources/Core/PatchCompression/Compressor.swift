package import PatchFormat

/// Writes one compressed stream.
package struct Compressor: ~Copyable {
    /// The level of zstd; for gzip, the best level is always used.
    package enum Effort: Int, CaseIterable, Sendable {
        case quick = 3
        case thorough = 12
        case most = 19
    }

    package let format: CompressionFormat
    private let codec: any Encoding

    /// - Parameter size: the exact size of the input in bytes.
    package init(_ format: CompressionFormat, size: Int, effort: Effort = .most) throws(CompressionError) {
        self.format = format
        codec =
            switch format {
            case .zstandard: try ZstandardEncoding(level: effort.rawValue, size: size)
            case .gzip: try DeflateEncoding(.gzip, level: effort == .quick ? 6 : 9)
            }
    }

    /// Returns the output that is available so far.
    ///
    /// The rest follows later.
    package func compress(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
        try codec.encode(bytes, isLast: false)
    }

    /// Returns the end of the stream.
    package consuming func finish() throws(CompressionError) -> [UInt8] {
        try codec.encode([], isLast: true)
    }
}

/// A library's state of one stream.
protocol Encoding: AnyObject {
    func encode(_ input: [UInt8], isLast: Bool) throws(CompressionError) -> [UInt8]
}

extension CompressionFormat {
    /// Compresses bytes in memory to a whole stream.
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
    /// Whether a compressed form is worth a file of its own.
    ///
    /// Files that hardly shrink are sent uncompressed.
    ///
    /// - Parameters:
    ///   - form: the size of the compressed form in bytes.
    ///   - plain: the size of the file in bytes.
    package static func pays(_ form: Int, for plain: Int) -> Bool { form + max(64, plain / 100) <= plain }
}
