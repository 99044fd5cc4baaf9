import FoundationEssentials
import NIOSSL
import PatchFormat
import PatchCrypto
import Subprocess
import SystemPackage
import Testing

@testable import PatchFetch

/// An authority and what it vouches for, made by `openssl` in a folder of its own.
final class TestAuthority: Sendable {
    private let folder: FilePath

    init() async throws {
        folder = FilePath(FileManager.default.temporaryDirectory.path).appending("patchline-authority-\(UUID())")
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        try await openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=Authority",
            "-days", "3", "-keyout", path("ca.key"), "-out", path("ca.pem"),
        ])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder.string)
    }

    var pem: [UInt8] { get throws { try bytes("ca.pem") } }

    /// What a server shows who it is with.
    struct Identity {
        let context: NIOSSLContext
        let pin: PublicKeyPin
    }

    /// - Parameters:
    ///   - name: as in subjectAltName: `IP:127.0.0.1`; nil for a certificate without one.
    ///   - subject: its common name among others.
    ///   - days: negative for one that has expired.
    ///   - configure: what else the server's side of TLS is to be.
    func identity(
        _ name: String? = "IP:127.0.0.1",
        subject: String = "/CN=server",
        days: Int = 3,
        _ configure: (inout TLSConfiguration) -> Void = { _ in }
    ) async throws -> Identity {
        let file = "server-\(UUID())"
        try write(name.map { "subjectAltName=\($0)\n" } ?? "", to: "\(file).ext")
        try await openssl([
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject,
            "-keyout", path("\(file).key"), "-out", path("\(file).csr"),
        ])
        try await openssl([
            "x509", "-req", "-in", path("\(file).csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"),
            "-CAcreateserial", "-days", "\(days)", "-extfile", path("\(file).ext"), "-out", path("\(file).pem"),
        ])
        try await openssl([
            "pkey", "-in", path("\(file).key"), "-pubout", "-outform", "der", "-out", path("\(file).der"),
        ])
        let certificate = try NIOSSLCertificate(bytes: try bytes("\(file).pem"), format: .pem)
        let key = try NIOSSLPrivateKey(bytes: try bytes("\(file).key"), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)],
            privateKey: .privateKey(key)
        )
        configure(&configuration)
        return Identity(
            context: try NIOSSLContext(configuration: configuration),
            pin: PublicKeyPin(digest: SHA256Digest(of: try bytes("\(file).der")))
        )
    }

    private func path(_ name: String) -> String { folder.appending(name).string }

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    private func write(_ text: String, to name: String) throws {
        try text.write(toFile: path(name), atomically: false, encoding: .utf8)
    }

    private func openssl(_ arguments: [String]) async throws {
        let result = try await Subprocess.run(
            .name("openssl"),
            arguments: Arguments(arguments),
            output: .string(limit: 100_000),
            error: .string(limit: 100_000)
        )
        try #require(result.terminationStatus.isSuccess, "\(arguments): \(result.standardError)")
    }
}
