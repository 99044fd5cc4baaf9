import PatchFormat

/// What bounds pages, in bytes where nothing else is said: what is over passes as it is, and is not kept.
package enum PageLimits {
    package static let page = 5_000_000
    /// A string of JSON.
    package static let block = Limits.stringInDocument
    package static let blocks = 10_000
    package static let update = 16_000_000
    /// That are told of one page.
    package static let doubts = 100
    /// Of one header field.
    package static let field = 8_192
    package static let links = 100
    package static let link = 2_048
}
