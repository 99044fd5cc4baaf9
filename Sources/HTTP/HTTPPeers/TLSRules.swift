package import NIOSSL

/// Which TLS is spoken, by our servers and our clients alike: 1.3, and 1.2 with ECDHE and AEAD alone (RFC 9325 §4.2).
package enum TLSRules {
    /// Those of 1.2; the ones of 1.3 are all of this kind, and the TLS library lets nobody choose.
    package static let suites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    package static func apply(to configuration: inout TLSConfiguration) {
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = suites
    }

    /// What every client of ours begins with: the system's roots, and a certificate that is checked.
    package static func client() -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        apply(to: &configuration)
        return configuration
    }
}
