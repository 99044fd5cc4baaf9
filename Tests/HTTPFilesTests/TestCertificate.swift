import Foundation
import HTTPFiles
import NIOSSL
import Subprocess
import SystemPackage
import Testing

/// A key and a certificate for 127.0.0.1 that signs itself, made by `openssl`.
struct TestCertificate: Sendable {
    let folder: TemporaryFolder

    var certificate: FilePath { folder.path.appending("server.crt") }
    var key: FilePath { folder.path.appending("server.key") }

    /// - Parameter passphrase: encrypts the key.
    init(days: String = "30", passphrase: String? = nil) async throws {
        folder = try TemporaryFolder()
        let secret = passphrase.map { ["-passout", "pass:\($0)"] } ?? ["-nodes"]
        let done = try await run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", "/CN=127.0.0.1",
                "-addext", "subjectAltName=IP:127.0.0.1",
                "-days", days, "-keyout", key.string, "-out", certificate.string,
            ] + secret
        )
        try #require(done.isSuccess, "\(done.text)")
    }

    func bytes(of file: FilePath) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: file.string)))
    }

    func identity(passphrase: String? = nil) throws -> TLSIdentity {
        try TLSIdentity(
            certificates: try bytes(of: certificate),
            key: try bytes(of: key),
            passphrase: passphrase.map { Array($0.utf8) }
        )
    }

    /// For a client that trusts this certificate alone.
    func clientContext() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificate.string))
        return try NIOSSLContext(configuration: configuration)
    }
}

/// What a program printed on both outputs.
struct Printed: Sendable {
    let text: String
    let isSuccess: Bool
}

func run(_ program: String, _ arguments: [String]) async throws -> Printed {
    let result = try await Subprocess.run(
        .name(program),
        arguments: Arguments(arguments),
        output: .string(limit: 10_000_000),
        error: .string(limit: 1_000_000)
    )
    return Printed(
        text: result.standardOutput + result.standardError,
        isSuccess: result.terminationStatus.isSuccess
    )
}
