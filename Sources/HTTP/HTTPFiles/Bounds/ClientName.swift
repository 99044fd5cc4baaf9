/// Who is at the other end, as limits count them: the address of the connection, or what a proxy that is trusted says of
/// it; of IPv6 the network (/64) that one customer has.
package struct ClientName: Hashable, Sendable {
    package let text: String

    /// - Parameters:
    ///   - address: of the connection.
    ///   - forwarded: the values of `X-Forwarded-For`, in order; only what trusted proxies added is looked at.
    package init(_ address: String?, forwarded: [String] = [], trusting proxies: TrustedProxies = .none) {
        let address = proxies.client(at: address ?? "", forwarded: forwarded)
        text = IPAddress(address)?.customer ?? address
    }
}
