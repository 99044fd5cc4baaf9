import HTTPFiles

/// A client that shows wrong tokens, as a limit counts it.
struct LimitedClient: Hashable, Sendable {
    let name: String

    /// See ``HTTPFiles/ClientName``.
    init(_ address: String?, forwarded: [String], trusting proxies: TrustedProxies) {
        name = ClientName(address, forwarded: forwarded, trusting: proxies).text
    }
}
