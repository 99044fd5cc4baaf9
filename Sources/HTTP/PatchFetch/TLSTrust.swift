package import AsyncHTTPClient
import HTTPPeers
import NIOCore
package import NIOSSL
import PatchFormat
import PatchCrypto

/// Which servers a client talks to over TLS: those whose certificate the system's roots vouch for, or an own authority;
/// and, where keys are pinned, of these only those that have one of them.
///
/// Pins come on top: name, dates and issuer of a certificate are checked all the same. This decides who may slow a device
/// down or watch it; what it installs is decided by signatures alone.
package struct TLSTrust: Sendable {
    /// In place of the system's; empty for the system's.
    private let authorities: [NIOSSLCertificate]
    package let pins: Set<PublicKeyPin>

    /// The system's roots.
    package init() {
        authorities = []
        pins = []
    }

    /// - Parameter authorities: PEM, one certificate or several; nil for the system's roots.
    /// - Throws: `noAuthority` where the PEM holds no certificate that can be read.
    package init(authorities: [UInt8]?, pins: Set<PublicKeyPin> = []) throws(TLSFault) {
        self.pins = pins
        guard let authorities else {
            self.authorities = []
            return
        }
        do {
            self.authorities = try NIOSSLCertificate.fromPEMBytes(authorities)
        } catch { throw .noAuthority }
        if self.authorities.isEmpty { throw .noAuthority }
    }

    /// Whether a server without TLS is refused.
    package var needsTLS: Bool { !authorities.isEmpty || !pins.isEmpty }

    package var configuration: TLSConfiguration {
        var tls = TLSRules.client()
        if !authorities.isEmpty { tls.trustRoots = .certificates(authorities) }
        return tls
    }

    package func apply(to configuration: inout HTTPClient.Configuration) {
        configuration.tlsConfiguration = self.configuration
        // Runs after the handshake and before any request is written; when it fails, none ever is.
        configuration.http1_1ConnectionDebugInitializer = { [pins] channel in
            AnswerGuard.stand(on: channel) { channel in
                guard !pins.isEmpty else { return }
                try Self.check(try channel.pipeline.syncOperations.nioSSL_peerCertificate(), pins)
            }
        }
    }

    private static func check(_ certificate: NIOSSLCertificate?, _ pins: Set<PublicKeyPin>) throws {
        guard let key = try certificate?.extractPublicKey().toSPKIBytes() else { throw TLSFault.noAuthority }
        let found = PublicKeyPin(digest: SHA256Digest(of: key))
        guard pins.contains(found) else { throw TLSFault.pinMismatch(found: found) }
    }
}
