package import NIOSSL

/// The TLS versions of our servers and clients: 1.3, and 1.2 with ECDHE and AEAD only (RFC 9325 §4.2).
package enum TLSRules {
    /// The cipher suites of 1.2.
    ///
    /// All suites of 1.3 are of this kind, and the TLS library does not allow selecting them.
    package static let suites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    package static func apply(to configuration: inout TLSConfiguration) {
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = suites
    }

    /// The base configuration of all our clients: the system's roots, and full certificate verification.
    package static func client() -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        apply(to: &configuration)
        return configuration
    }
}
