import NIOCore
package import NIOSSL

/// A server's certificate is good, and names another.
package struct ServerNameError: Error, Equatable, Sendable {
    package let host: String
}

/// Who a server must be: the host of its URL.
///
/// A name counts by the DNS names of a certificate's subjectAltName alone (RFC 9525 §6.3). The TLS library would also take
/// the certificate's common name, where there is no subjectAltName, and, for a name, the address that it led to: whoever
/// answers for names could then use a certificate for an address. An address is the TLS library's to check, which it does
/// by subjectAltName alone.
package struct ServerName: Equatable, Sendable {
    /// In small letters, without a dot at its end; nil for an address.
    let name: String?
    let host: String

    package init(host: String) {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.host = bare
        let isAddress = (try? SocketAddress(ipAddress: bare, port: 0)) != nil
        name = isAddress ? nil : Self.plain(bare)
    }

    /// - Parameter authority: as in the Host field: with or without a port.
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
        // Beyond ASCII no DNS name stands as it is, and small letters of other scripts may be ours: of U+212A it is k.
        return names.contains { $0.utf8.allSatisfy { $0 < 0x80 } && Self.matches(Self.plain($0), name) }
    }

    /// `*` stands for the whole of the first label, and for nothing else.
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
