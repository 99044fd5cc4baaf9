import HTTPFiles

/// Who shows a wrong token, as a limit counts them.
struct LimitedClient: Hashable, Sendable {
    let name: String

    /// See ``HTTPFiles/ClientName``.
    init(_ address: String?, forwarded: [String], trusting proxies: TrustedProxies) {
        name = ClientName(address, forwarded: forwarded, trusting: proxies).text
    }
}
