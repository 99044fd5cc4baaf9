package import HTTPCore

/// The identity of a client for limits: the address of the connection, or the one that a trusted proxy forwards.
///
/// IPv6 addresses are reduced to their network (/64), which usually belongs to one customer.
package struct ClientName: Hashable, Sendable {
    package let text: String

    /// - Parameters:
    ///   - address: The address of the connection.
    ///   - forwarded: The values of `X-Forwarded-For`, in order. Only the addresses added by trusted proxies are used.
    package init(_ address: String?, forwarded: [String] = [], trusting proxies: TrustedProxies = .none) {
        let address = proxies.client(at: address ?? "", forwarded: forwarded)
        text = IPAddress(address)?.customer ?? address
    }
}
