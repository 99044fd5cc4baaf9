import HTTPPeers
import NIOCore
import NIOSSL

/// Why a certificate and a key do not make a TLS server.
package enum TLSIdentityError: Error, Equatable, Sendable {
    /// The certificate's file holds no `-----BEGIN CERTIFICATE-----`, or one that cannot be read.
    case noCertificate
    /// The key's file holds no `PRIVATE KEY-----`, or one that cannot be read.
    case noKey
    /// The key is encrypted, and there is no passphrase for it.
    case needsPassphrase
    case wrongPassphrase
    /// The key is not the one of the first certificate.
    case mismatch
    /// The TLS library refuses them, in its own words.
    case unusable(reason: String)
}

/// What a server shows who it is with: a certificate chain and its private key, checked against each other.
///
/// TLS as ``TLSRules`` says, and by ALPN HTTP/1.1.
package struct TLSIdentity: Sendable {
    /// How long a client may take to close after the server did; then the connection is dropped.
    private static let shutdownTimeout = Duration.seconds(2)

    let context: NIOSSLContext
    /// From when to when the first certificate holds, in seconds since 1970.
    package let validity: ClosedRange<Int>

    /// - Parameters:
    ///   - certificates: PEM, the server's own first, then those that lead to a root that clients know.
    ///   - key: PEM, PKCS#8 or the older forms.
    ///   - passphrase: used only for a key that is encrypted.
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
