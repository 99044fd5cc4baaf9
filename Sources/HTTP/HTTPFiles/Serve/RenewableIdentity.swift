import NIOConcurrencyHelpers

/// A server's TLS identity, which may be replaced while the server runs.
///
/// A connection keeps the identity of its handshake. New connections use the current one.
package final class RenewableIdentity: Sendable {
    private let identity: NIOLockedValueBox<TLSIdentity>

    package init(_ identity: TLSIdentity) {
        self.identity = NIOLockedValueBox(identity)
    }

    package var current: TLSIdentity { identity.withLockedValue(\.self) }

    package func renew(with identity: TLSIdentity) {
        self.identity.withLockedValue { $0 = identity }
    }
}
