/// A format in which a file travels in fewer bytes than it has.
///
/// Transport and not trust: what comes out is bounded by a signed size and compared with a signed digest. The raw value is
/// HTTP's name of the content coding (RFC 8878 §7.2, RFC 9110 §8.4.1.3).
package enum CompressionFormat: String, CaseIterable, Comparable, Sendable {
    case zstandard = "zstd"
    case gzip

    /// What the name of a compressed form ends in, after that of the plain file.
    package var suffix: String {
        switch self {
        case .zstandard: ".zst"
        case .gzip: ".gz"
        }
    }

    package static func < (left: Self, right: Self) -> Bool { left.suffix > right.suffix }
}
