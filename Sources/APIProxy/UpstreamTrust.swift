import HTTPPeers
import NIOSSL

/// Whose certificates upstreams over TLS may show: those that the system's roots vouch for, or an own authority.
package struct UpstreamTrust: Sendable {
    let configuration: TLSConfiguration

    /// - Parameter authorities: PEM, one certificate or several; nil for the system's roots.
    package init(authorities: [UInt8]? = nil) throws(UpstreamTrustError) {
        var configuration = TLSRules.client()
        if let authorities {
            let certificates: [NIOSSLCertificate]
            do { certificates = try NIOSSLCertificate.fromPEMBytes(authorities) } catch { throw .noAuthority }
            guard !certificates.isEmpty else { throw .noAuthority }
            configuration.trustRoots = .certificates(certificates)
        }
        self.configuration = configuration
    }
}

package enum UpstreamTrustError: Error, Equatable, Sendable {
    /// The PEM holds no certificate that can be read.
    case noAuthority
}
