import PageDiff

/// What bounds the device's side; the counts are VasSonic's.
extension PageLimits {
    package static let pagesInMemory = 3
    package static let preloads = 5
    package static let parallelLinks = 3
    /// Of all kept pages on disk, in bytes; what is over it is brought down to a quarter, the oldest first.
    package static let pagesOnDisk = 30_000_000
    /// Of all linked resources, in bytes.
    package static let linksOnDisk = 60_000_000
    /// Of one linked resource, in bytes.
    package static let linked = 5_000_000
    /// The most requests for pages under way; more pass as they do without a rule's `pages`.
    package static let visits = 32
    /// Bytes of a page that is too large to be kept, between its server and the slowest of its readers.
    package static let ahead = 262_144
    /// Of the file beside a page, in bytes.
    package static let record = 65_536

    /// How long a page's server has for all of an answer whose page is shown already.
    package static let answerTime = Duration.seconds(120)
    /// How long the outcome of a visit is known.
    package static let outcomeTime = Duration.seconds(30)
    /// How long cookies wait for a page that takes them.
    package static let lateTime = Duration.seconds(600)
    /// How long one call for it waits.
    package static let callTime = Duration.seconds(25)
    /// How long a page that nobody has opened stays in memory.
    package static let preloadTime = Duration.seconds(180)
    package static let switchedOffTime = Duration.seconds(21_600)
    package static let checkTime = Duration.seconds(43_200)
    /// How long a linked resource holds that says nothing of it.
    package static let linkTime = Duration.seconds(300)
}
