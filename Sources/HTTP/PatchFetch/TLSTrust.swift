package import AsyncHTTPClient
import HTTPCore
import NIOCore
package import NIOSSL
import PatchFormat
import PatchCrypto

/// The servers that a client accepts over TLS: those with a certificate from the system's roots or from an own authority.
///
/// If keys are pinned, the server must also have one of them.
///
/// Pins are an addition: the name, dates and issuer of a certificate are checked regardless. TLS decides who can slow a device down
/// or watch it. Signatures alone decide which versions it installs.
package struct TLSTrust: Sendable {
    /// Authorities that replace the system's roots.
    ///
    /// Empty to use the system's.
    private let authorities: [NIOSSLCertificate]
    package let pins: Set<PublicKeyPin>

    /// Trusts the system's roots.
    package init() {
        authorities = []
        pins = []
    }

    /// - Parameter authorities: PEM with one or more certificates, or nil for the system's roots.
    /// - Throws: `noAuthority` if the PEM contains no readable certificate.
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
        // Runs after the handshake and before any request is written. If it fails, no request is sent.
        configuration.http1_1ConnectionDebugInitializer = { [pins] channel in
            AnswerGuard.install(on: channel) { channel in
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
