import NIOConcurrencyHelpers

/// The ports of the stores of one daemon.
///
/// If two stores have the same port, the first one receives it.
package final class PortTable: Sendable {
    private let owners = NIOLockedValueBox<[Int: String]>([:])

    package init() {}

    /// Assigns a port to a store, which has at most one.
    ///
    /// - Returns: The store that already has the port, or nil.
    package func claim(_ port: Int, for store: String) -> String? {
        owners.withLockedValue { owners in
            if let owner = owners[port], owner != store { return owner }
            owners = owners.filter { $0.value != store }
            owners[port] = store
            return nil
        }
    }

    package func release(of store: String) {
        owners.withLockedValue { owners in owners = owners.filter { $0.value != store } }
    }
}
