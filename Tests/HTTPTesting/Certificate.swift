package import HTTPFiles
package import NIOSSL
import Subprocess

/// A key and a certificate that signs itself, made by `openssl`.
package struct Certificate: Sendable {
    /// `openssl` failed, or is not installed: the test fails, it is never skipped.
    private struct Failed: Error {
        let output: String
    }

    package static let ec = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]

    /// Both.
    package let pem: [UInt8]

    /// - Parameter names: as in subjectAltName; nil for none.
    package init(commonName: String = "server", names: String?, key: [String] = ["rsa:2048"]) async throws {
        var arguments = ["req", "-x509", "-subj", "/CN=\(commonName)", "-nodes", "-days", "3", "-newkey"] + key
        if let names { arguments += ["-addext", "subjectAltName=\(names)"] }
        let result = try await Subprocess.run(
            .name("openssl"),
            arguments: Arguments(arguments + ["-keyout", "-", "-out", "-"]),
            output: .bytes(limit: 100_000),
            error: .string(limit: 100_000)
        )
        guard result.terminationStatus.isSuccess else { throw Failed(output: result.standardError) }
        pem = result.standardOutput
    }

    package var identity: TLSIdentity {
        get throws { try TLSIdentity(certificates: pem, key: pem) }
    }

    /// For a server in this process, of any TLS.
    package var context: NIOSSLContext {
        get throws {
            try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: NIOSSLCertificate.fromPEMBytes(pem).map { .certificate($0) },
                    privateKey: .privateKey(NIOSSLPrivateKey(bytes: pem, format: .pem))
                )
            )
        }
    }
}
