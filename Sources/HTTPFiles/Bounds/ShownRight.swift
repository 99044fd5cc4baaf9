import Synchronization

/// Whether whoever is at the other end has shown a right to be here: a token that is valid, a cookie of the app.
///
/// A connection that has not is counted apart, and goes first when room is short.
package final class ShownRight: Sendable {
    private let shown = Atomic(false)

    package init() {}

    /// It asked for something that only its right lets it have.
    package func show() {
        if !isShown { shown.store(true, ordering: .relaxed) }
    }

    package var isShown: Bool { shown.load(ordering: .relaxed) }
}
