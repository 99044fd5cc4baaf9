import NIOCore
package import NIOSSL

/// A server's certificate is valid but for another name.
package struct ServerNameError: Error, Equatable, Sendable {
    package let host: String
}

/// The required identity of a server: the host of its URL.
///
/// A name is compared only with the DNS names in a certificate's subjectAltName (RFC 9525 §6.3). The TLS library would also accept
/// the certificate's common name if there is no subjectAltName, and, for a name, the address that it resolved to. An attacker who
/// controls name resolution could then use a certificate for an address. Addresses are checked by the TLS library, which uses only
/// subjectAltName.
package struct ServerName: Equatable, Sendable {
    /// The name in lower case, without a dot at its end, or nil for an address.
    let name: String?
    let host: String

    package init(host: String) {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.host = bare
        let isAddress = (try? SocketAddress(ipAddress: bare, port: 0)) != nil
        name = isAddress ? nil : Self.plain(bare)
    }

    /// - Parameter authority: The value of a Host field, with or without a port.
    init(authority: String) {
        let isBracketed = authority.hasPrefix("[")
        let host = isBracketed ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        self.init(host: String(host))
    }

    package func check(_ certificate: NIOSSLCertificate) throws(ServerNameError) {
        let names = certificate._subjectAlternativeNames().filter { $0.nameType == .dnsName }
            .map { String(decoding: Array($0.contents), as: UTF8.self) }
        guard isNamed(by: names) else { throw ServerNameError(host: host) }
    }

    func isNamed(by names: [String]) -> Bool {
        guard let name else { return true }
        // DNS names in certificates are ASCII. Other scripts have characters whose lower case is ASCII: U+212A becomes k.
        return names.contains { $0.utf8.allSatisfy { $0 < 0x80 } && Self.matches(Self.plain($0), name) }
    }

    /// Matches a name with a pattern.
    ///
    /// `*` matches exactly the first label.
    private static func matches(_ pattern: String, _ name: String) -> Bool {
        guard !name.isEmpty, pattern.hasPrefix("*.") else { return !name.isEmpty && pattern == name }
        guard let dot = name.firstIndex(of: "."), dot != name.startIndex, pattern.utf8.count > 2 else { return false }
        return name[dot...] == pattern.dropFirst()
    }

    private static func plain(_ name: String) -> String {
        let small = name.lowercased()
        return small.hasSuffix(".") ? String(small.dropLast()) : small
    }
}
