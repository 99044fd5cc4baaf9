import ArgumentParser
import CommandKit
import HTTPFiles
import PatchFormat
import PatchServer
import PatchStore
import SystemPackage

/// The options for HTTPS and the server's certificate.
struct TLSOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use HTTPS with this certificate: PEM, the server's own first, then the intermediates.",
            valueName: "file"
        )
    )
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("Private key of the certificate (PEM).", valueName: "file"))
    var tlsKey: String?

    @Option(help: ArgumentHelp("File whose first line is that key's passphrase.", valueName: "file"))
    var tlsPassphraseFile: String?

    func validate() throws {
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key belong together")
        }
        guard tlsPassphraseFile == nil || tlsKey != nil else {
            throw ValidationError("--tls-passphrase-file is for the key of --tls-key")
        }
    }

    /// The service that loads a renewed certificate while the server runs, or nil without TLS.
    ///
    /// - Parameter nudges: Each one triggers a check at once.
    func renewal(nudges: AsyncStream<Void>, log: ServerLog) throws -> CertificateRenewal<ContinuousClock>? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return try CertificateRenewal(
            every: .seconds(60),
            clock: .continuous,
            nudges: nudges,
            files: {
                [tlsCertificate, tlsKey].map { try? DiskFiles().identity(of: FilePath(argument: $0).followingLinks) }
            },
            load: { [self] in
                do {
                    return try identity(tlsCertificate, tlsKey, log)
                } catch { throw OpenFailure(error) }
            },
            report: { look in
                let (level, line) = Self.line(look)
                log.say(level, line)
            }
        )
    }

    /// Reads both files, and warns of a certificate that is not valid now.
    private func identity(_ tlsCertificate: String, _ tlsKey: String, _ log: ServerLog) throws -> TLSIdentity {
        let identity = try read(tlsCertificate, tlsKey)
        if let line = Self.warning(of: identity.validity, tlsCertificate, at: ProcessEnvironment.now()) {
            log.say(.warning, line)
        }
        return identity
    }

    /// The server's certificate and key, or nil without TLS.
    func identity() throws -> TLSIdentity? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return try read(tlsCertificate, tlsKey)
    }

    /// Reads both files and follows symbolic links, because certificates are renewed by changing a link.
    private func read(_ tlsCertificate: String, _ tlsKey: String) throws -> TLSIdentity {
        let passphrase = try tlsPassphraseFile.map { (file) throws(PassphraseError) in try Passphrase.read(file: file) }
        SecretAccess.warn(of: tlsKey, refusing: 0o007)
        let (certificates, key) = (try read(tlsCertificate), try read(tlsKey))
        do throws(TLSIdentityError) {
            return try TLSIdentity(certificates: certificates, key: key, passphrase: passphrase?.bytes)
        } catch { throw Failure(error, certificate: tlsCertificate, key: tlsKey) }
    }

    private func read(_ file: String) throws -> [UInt8] {
        try DiskFiles().read(FilePath(argument: file).followingLinks, limit: Limits.certificates)
    }

    static func line(_ look: CertificateReading) -> (LogLine.Level, String) {
        switch look {
        case .renewed(let until):
            (.info, "the certificate was read again: it is valid until \(UTCTime(seconds: until))")
        case .kept(let why):
            (.error, "the certificate was not renewed, so the previous one stays in use: \(printable(why))")
        }
    }

    /// The warning about a certificate that is not valid now, or nil.
    static func warning(of validity: ClosedRange<Int>, _ file: String, at now: UTCTime) -> String? {
        guard !validity.contains(now.seconds) else { return nil }
        let what =
            now.seconds > validity.upperBound
            ? "expired at \(UTCTime(seconds: validity.upperBound))"
            : "is valid only from \(UTCTime(seconds: validity.lowerBound))"
        return "the certificate \(printable(file)) \(what); clients will refuse it"
    }
}

extension Failure {
    init(_ error: TLSIdentityError, certificate: String, key: String) {
        switch error {
        case .noCertificate:
            self.init(
                "\(certificate) contains no certificate",
                hint: "it must be PEM: -----BEGIN CERTIFICATE-----",
                code: .malformed
            )
        case .noKey:
            self.init(
                "\(key) contains no private key",
                hint: "it must be a private key in PEM, such as `openssl genpkey` writes",
                code: .malformed
            )
        case .needsPassphrase:
            self.init(
                "the key \(key) is encrypted",
                hint: "name its passphrase with --tls-passphrase-file",
                code: .refused
            )
        case .wrongPassphrase:
            self.init("the passphrase does not open the key \(key)", code: .refused)
        case .mismatch:
            self.init(
                "the key \(key) is not the one of the certificate \(certificate)",
                hint: "the server's own certificate must be the first in its file",
                code: .refused
            )
        case .unusable(let reason):
            self.init("the certificate \(certificate) cannot be used: \(reason)", code: .refused)
        }
    }
}
