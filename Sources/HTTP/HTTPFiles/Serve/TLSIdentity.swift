import HTTPCore
import NIOCore
import NIOSSL

/// Why a certificate and a key cannot be used for a TLS server.
package enum TLSIdentityError: Error, Equatable, Sendable {
    /// The certificate file contains no `-----BEGIN CERTIFICATE-----`, or an unreadable certificate.
    case noCertificate
    /// The key file contains no `PRIVATE KEY-----`, or an unreadable key.
    case noKey
    /// The key is encrypted, and no passphrase was given.
    case needsPassphrase
    case wrongPassphrase
    /// The key does not belong to the first certificate.
    case mismatch
    /// The TLS library rejects them, for this reason.
    case unusable(reason: String)
}

/// A server's certificate chain and its private key, checked against each other.
///
/// TLS follows ``TLSRules``; ALPN announces HTTP/1.1.
package struct TLSIdentity: Sendable {
    /// How long a client may take to close after the server did.
    ///
    /// Then the connection is dropped.
    private static let shutdownTimeout = Duration.seconds(2)

    let context: NIOSSLContext
    /// The validity of the first certificate, in seconds since 1970.
    package let validity: ClosedRange<Int>

    /// - Parameters:
    ///   - certificates: PEM. The server's own certificate is first, followed by those that lead to a root that clients trust.
    ///   - key: PEM, in PKCS#8 or an older form.
    ///   - passphrase: Used only for an encrypted key.
    package init(certificates: [UInt8], key: [UInt8], passphrase: [UInt8]? = nil) throws(TLSIdentityError) {
        let chain = try Self.chain(certificates)
        guard let first = chain.first else { throw .noCertificate }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(try Self.privateKey(key, passphrase))
        )
        TLSRules.apply(to: &configuration)
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = .init(Self.shutdownTimeout)
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch NIOSSLError.failedToLoadPrivateKey {
            throw .mismatch
        } catch {
            throw .unusable(reason: String(describing: error))
        }
        let (begin, end) = (Int(first.notValidBefore), Int(first.notValidAfter))
        validity = begin...max(begin, end)
    }

    private static func chain(_ pem: [UInt8]) throws(TLSIdentityError) -> [NIOSSLCertificate] {
        guard String(decoding: pem, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else { throw .noCertificate }
        do { return try NIOSSLCertificate.fromPEMBytes(pem) } catch { throw .noCertificate }
    }

    private static func privateKey(_ pem: [UInt8], _ passphrase: [UInt8]?) throws(TLSIdentityError) -> NIOSSLPrivateKey
    {
        let text = String(decoding: pem, as: UTF8.self)
        guard text.contains("PRIVATE KEY-----") else { throw .noKey }
        guard text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("Proc-Type: 4,ENCRYPTED") else {
            do { return try NIOSSLPrivateKey(bytes: pem, format: .pem) } catch { throw .noKey }
        }
        guard let passphrase else { throw .needsPassphrase }
        do {
            return try NIOSSLPrivateKey(bytes: pem, format: .pem) { (give: NIOSSLPassphraseSetter<[UInt8]>) in
                give(passphrase)
            }
        } catch { throw .wrongPassphrase }
    }
}
