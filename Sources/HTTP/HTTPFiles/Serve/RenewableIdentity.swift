import NIOConcurrencyHelpers

/// Who a server says that it is, which may change while it serves.
///
/// A connection keeps what its handshake showed; the next one sees what is current then.
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
