import FoundationEssentials
import HTTPTesting
import Subprocess
import SystemPackage
import Testing

extension Certificate {
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
