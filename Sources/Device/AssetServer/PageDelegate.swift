package import HTTPFiles

/// A delegate that shows pages as they were kept, and knows later what they are now.
///
/// It answers `/__patchline/page` too, for who was let in.
package protocol PageDelegate: RequestDelegate {
    /// From now on it tells open pages what changed.
    func connect(_ events: PageEvents)
}
