import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// A device's store and the commands that act on it.
struct Device: Sendable {
    let store: FilePath

    func create(root: FilePath, server: String) async throws {
        try await self("init", "--root", root.string, "--server", server).done()
    }

    /// From now on it asks another server: what `init` was told is a member of config.json.
    func ask(_ server: String) throws {
        let file = store.appending("config.json")
        let text = try read(file)
        try write(text.replacing(#/"server":"[^"]*"/#, with: "\"server\":\"\(server)\""), to: file)
    }

    func callAsFunction(
        _ command: String,
        _ arguments: String...,
        environment: [Environment.Key: String?] = [:]
    ) async throws -> Outcome {
        try await run(.patchsync, [command, "--store", store.string] + arguments, environment: environment)
    }

    /// It asks once, as tests that break the server want it, unless the options say otherwise.
    func sync(_ options: [String] = [], dieAt point: String? = nil) async throws -> Outcome {
        try await run(
            .patchsync,
            ["sync", "--store", store.string] + (options.contains("--retries") ? [] : ["--retries", "0"]) + options,
            environment: point.map { ["PATCHSYNC_DIE_AT": $0] } ?? [:]
        )
    }

    /// A sync while the machine's clock says something else: `+8 days`, `1970-01-02 00:00:00`.
    func sync(at clock: String) async throws -> Outcome {
        let program = Tool.binaries.appending("patchsync").string
        return try await run(.system("faketime"), [clock, program, "sync", "--store", store.string])
    }

    /// Runs `patchsync serve` while `body` runs; it must stop in good order unless the test killed it.
    @discardableResult
    func serving<Value: Sendable>(
        _ options: [String] = ["--no-sync"],
        port: [String] = ["--port", "0"],
        timeout: Int = 600_000,
        dieAt point: String? = nil,
        _ body: @escaping @Sendable (Page) async throws -> Value
    ) async throws -> Value {
        let arguments = ["serve", "--store", store.string, "--startup-timeout", "\(timeout)"] + port + options
        let environment: [Environment.Key: String?] = point.map { ["PATCHSYNC_DIE_AT": $0] } ?? [:]
        let (value, outcome) = try await running(.patchsync, arguments, environment: environment) { program in
            let address = try await program.address()
            return try await body(try await Page.opened(device: self, program: program, address: address))
        }
        #expect(outcome.code == 0 || outcome.wasKilled, "\(outcome)")
        return value
    }

    /// Everything that is installed holds, signatures too, and nothing else than `patches` is.
    func expectWhole(_ release: Int?, location: SourceLocation = #_sourceLocation) async throws {
        let check = try await self("verify", "--entries")
        #expect(check.code == 0, "\(check)", sourceLocation: location)
        #expect(check.output.contains("; 0 faults"), "\(check)", sourceLocation: location)
        guard let release else { return }
        let status = try await self("status")
        let rows = status.output.split(separator: "\n").map { $0.split(separator: " ") }
        let exists = rows.contains {
            $0.prefix(3) == ["web", "bundle", "\(release).0.0"] && ["Success", "UnInstall"].contains($0.last)
        }
        #expect(exists, "\(status)", sourceLocation: location)
    }
}
