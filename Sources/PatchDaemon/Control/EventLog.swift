package import Patchline

/// What happened to the stores of this process, in order, for whoever listens.
package final class EventLog: Sendable {
    package init() {}

    /// - Parameter name: of the store, as the settings file names it.
    package func take(_ event: LocalServer.Event, from name: String) {
        _ = (event, name)
    }
}
