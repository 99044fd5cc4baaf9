import Synchronization

/// Whether the client of a connection has shown a right to be here: a valid token, a cookie of the app.
///
/// Connections without one are counted apart, and are the first to go when room is short.
package final class ShownRight: Sendable {
    private let shown = Atomic(false)

    package init() {}

    /// A request was admitted by its right.
    package func show() {
        if !isShown { shown.store(true, ordering: .relaxed) }
    }

    package var isShown: Bool { shown.load(ordering: .relaxed) }
}
