import Synchronization

/// Whether the client of a connection has shown a right to connect: a valid token, or a cookie of the app.
///
/// Connections without one are counted separately and are the first to be closed when room is short.
package final class ClientAuthorization: Sendable {
    private let shown = Atomic(false)

    package init() {}

    /// Notes that a request was admitted by its right.
    package func show() {
        if !isShown { shown.store(true, ordering: .relaxed) }
    }

    package var isShown: Bool { shown.load(ordering: .relaxed) }
}
