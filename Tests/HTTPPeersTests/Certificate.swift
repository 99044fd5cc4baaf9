import FoundationEssentials
import NIOSSL
import Subprocess
import SystemPackage
import Testing

/// A key and a certificate that signs itself, made by `openssl`.
struct Certificate: Sendable {
    /// Both.
    let pem: [UInt8]

    /// - Parameter names: as in subjectAltName; nil for none.
    init(commonName: String = "server", names: String?) async throws {
        var arguments = ["req", "-x509", "-newkey", "rsa:2048", "-subj", "/CN=\(commonName)", "-nodes", "-days", "3"]
        if let names { arguments += ["-addext", "subjectAltName=\(names)"] }
        let result = try await Subprocess.run(
            .name("openssl"),
            arguments: Arguments(arguments + ["-keyout", "-", "-out", "-"]),
            output: .bytes(limit: 100_000),
            error: .string(limit: 100_000)
        )
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
        pem = result.standardOutput
    }

    /// For a server in this process, of any TLS.
    var context: NIOSSLContext {
        get throws {
            try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: NIOSSLCertificate.fromPEMBytes(pem).map { .certificate($0) },
                    privateKey: .privateKey(NIOSSLPrivateKey(bytes: pem, format: .pem))
                )
            )
        }
    }

    /// Shown by `openssl s_server` while `body` runs, which has a page for everybody.
    func served(_ options: [String], _ body: @escaping @Sendable (_ port: Int) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "patchline-certificate-\(UUID()).pem")
        try Data(pem).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let arguments = ["s_server", "-accept", "127.0.0.1:0", "-cert", file.path, "-key", file.path, "-www"]
        _ = try await Subprocess.run(
            .name("openssl"),
            arguments: Arguments(arguments + options),
            input: .none,
            output: .sequence,
            error: .combinedWithOutput
        ) { execution in
            do {
                var port: Int?
                for try await line in execution.standardOutput.strings() where line.hasPrefix("ACCEPT ") {
                    port = line.split(separator: ":").last.flatMap { Int($0.filter(\.isNumber)) }
                    break
                }
                try await body(try #require(port, "openssl s_server did not start"))
                try execution.send(signal: .kill)
            } catch {
                try? execution.send(signal: .kill)
                throw error
            }
        }
    }
}

/// Both outputs of `openssl`, however it ends.
func openssl(_ arguments: String...) async throws -> String {
    let result = try await Subprocess.run(
        .name("openssl"),
        arguments: Arguments(arguments),
        input: .none,
        output: .string(limit: 1_000_000),
        error: .string(limit: 1_000_000)
    )
    return result.standardOutput + result.standardError
}
