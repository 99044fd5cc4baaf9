/// A compression that a file is transferred with.
///
/// Compressed forms are not signed: the decompressed size is bounded by a signed size, and the result is compared with a signed
/// digest. The raw value is the HTTP content coding (RFC 8878 §7.2, RFC 9110 §8.4.1.3).
package enum CompressionFormat: String, CaseIterable, Comparable, Sendable {
    case zstandard = "zstd"
    case gzip

    /// The suffix that the compressed file's name appends to the plain name.
    package var suffix: String {
        switch self {
        case .zstandard: ".zst"
        case .gzip: ".gz"
        }
    }

    package static func < (left: Self, right: Self) -> Bool { left.suffix > right.suffix }
}
