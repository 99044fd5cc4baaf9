import PatchFormat

/// Limits of pages, in bytes unless noted.
///
/// A larger page is passed unchanged and not stored.
package enum PageLimits {
    package static let page = 5_000_000
    /// The size of a block, which is a JSON string.
    package static let block = Limits.stringInDocument
    package static let blocks = 10_000
    package static let update = 16_000_000
    /// The number of doubts reported for one page.
    package static let warnings = 100
    /// The size of one header field.
    package static let field = 8_192
    package static let links = 100
    package static let link = 2_048
}
