import PageDiff

/// Limits of the device's side. The counts are VasSonic's.
extension PageLimits {
    package static let pagesInMemory = 3
    package static let preloads = 5
    package static let parallelLinks = 3
    /// The size of all stored pages on disk, in bytes.
    ///
    /// Above it, the oldest are removed until a quarter is left.
    package static let pagesOnDisk = 30_000_000
    /// The size of all linked resources, in bytes.
    package static let linksOnDisk = 60_000_000
    /// The size of one linked resource, in bytes.
    package static let linked = 5_000_000
    /// The maximum number of page requests in progress.
    ///
    /// Further ones pass as they do without a rule's `pages`.
    package static let visits = 32
    /// The bytes of an oversized page that are buffered between its server and its slowest reader.
    package static let ahead = 262_144
    /// The size of the record beside a page, in bytes.
    package static let record = 65_536

    /// The time in which a server must complete its response if its page is already shown.
    package static let answerTime = Duration.seconds(120)
    /// How long the outcome of a visit is available.
    package static let outcomeTime = Duration.seconds(30)
    /// How long cookies are kept for a page that fetches them.
    package static let lateTime = Duration.seconds(600)
    /// How long one call for the outcome waits.
    package static let callTime = Duration.seconds(25)
    /// How long a preloaded page stays in memory if it is not opened.
    package static let preloadTime = Duration.seconds(180)
    package static let switchedOffTime = Duration.seconds(21_600)
    package static let checkTime = Duration.seconds(43_200)
    /// How long a linked resource stays fresh if its response does not specify it.
    package static let linkTime = Duration.seconds(300)
}
