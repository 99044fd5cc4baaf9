package import PatchFormat

/// A `Content-Encoding` of a description's `headers`.
package struct DescribedCoding: Equatable, Sendable {
    package let pattern: FilePattern
    /// Nil for files that are sent unchanged.
    package let coding: AssetCoding?
}
