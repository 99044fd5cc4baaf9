package import HTTPFiles

/// A delegate that shows stored copies of pages, and learns later how they have changed.
///
/// It also answers `/__patchline/page`, for clients with access.
package protocol PageDelegate: RequestDelegate {
    /// Sets the events by which it reports changes to open pages.
    func connect(_ events: PageEvents)
}
