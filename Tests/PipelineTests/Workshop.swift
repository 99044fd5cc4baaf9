import FoundationEssentials
import Glibc
import PatchTesting
import SystemPackage

/// What every world starts from, made once in a process: keys, three signed releases, published trees, a settled device.
///
/// Nothing in it changes afterwards; worlds copy what they alter.
struct Workshop: Sendable {
    static let app = "com.example.pipeline"
    static let folder = FilePath("\(FileManager.default.temporaryDirectory.path)/patchline-pipeline-\(getpid())")

    /// An unencrypted set of keys, of 2,048 bits so that making them takes a second.
    let keys = folder.appending("keys")
    /// Another root of trust for the same app.
    let otherKeys = folder.appending("other-keys")
    /// The server's folder with release 1; with releases 1 and 2.
    let site1 = folder.appending("site1")
    let site2 = folder.appending("site2")
    /// A store that runs release 1, confirmed.
    let device1 = folder.appending("device1")

    func source(_ number: Int) -> FilePath { Self.folder.appending("source\(number)") }
    func release(_ number: Int) -> FilePath { Self.folder.appending("release\(number)") }

    private static let making = SharedFixture { try await Workshop().make() }

    static func ready() async throws -> Workshop {
        try await making.value
    }

    private func make() async throws -> Workshop {
        atexit { try? FileManager.default.removeItem(atPath: Workshop.folder.string) }
        try FileManager.default.createDirectory(atPath: Self.folder.string, withIntermediateDirectories: true)
        for keys in [keys, otherKeys] {
            try await run(
                .patchsign,
                [
                    "init", "--app", Self.app, "--keys", keys.string, "--unencrypted-keys", "--bits", "2048",
                    "--no-recovery-key",
                ]
            ).done()
        }
        for number in 1...3 {
            try Source(number).put(in: source(number))
            let previous = number == 1 ? [] : ["--previous", release(number - 1).string]
            try await run(
                .patchsign,
                ["release", source(number).string, "--keys", keys.string, "--output", release(number).string] + previous
            ).done()
        }
        try await run(
            .patchsrv,
            [
                "init", "--data", site1.string, "--trust", keys.string, "--online-key",
                keys.appending("online.key").string,
            ]
        ).done()
        try await run(.patchsrv, ["publish", release(1).string, "--data", site1.string, "--optimize"]).done()
        try await copy(site1, to: site2)
        try await run(.patchsrv, ["publish", release(2).string, "--data", site2.string, "--optimize"]).done()
        try await settle()
        return self
    }

    private func settle() async throws {
        let device = Device(store: device1)
        _ = try await serving(site1) { url in
            try await device.create(root: keys.appending("root.json"), server: url)
            try await device.sync().done()
        }
        try await device.serving { page in
            try await page.confirm()
        }
    }
}

/// `cp -a`: hard links stay links, which a store is made of.
func copy(_ source: FilePath, to target: FilePath) async throws {
    try await run(.system("cp"), ["-a", source.string, target.string]).done()
}

/// Runs `patchsrv serve` over a server's folder while `body` runs.
@discardableResult
func serving<Value: Sendable>(
    _ data: FilePath,
    _ options: [String] = [],
    deadline: Duration = patience * 4,
    _ body: @escaping @Sendable (_ url: String) async throws -> Value
) async throws -> Value {
    try await serving(data, options, deadline: deadline) { devices, _ in try await body(devices) }
}

/// The same, with where operators ask.
func serving<Value: Sendable>(
    _ data: FilePath,
    _ options: [String] = [],
    deadline: Duration = patience * 4,
    _ body: @escaping @Sendable (_ devices: String, _ url: String) async throws -> Value
) async throws -> Value {
    let arguments = ["serve", "--data", data.string] + anyPorts + options
    let (value, outcome) = try await running(.patchsrv, arguments, deadline: deadline) { server in
        try await body(try await server.address(), try await server.operators())
    }
    try outcome.done()
    return value
}

/// Ports that nobody else has, for `patchsrv serve`.
let anyPorts = ["--port", "0", "--operators-port", "0"]

extension RunningProgram {
    /// The URL of its "listening on" line, without a slash at the end.
    func address(from start: Int = 0, within deadline: Duration = patience) async throws -> String {
        let line = try await line(with: "listening on http", from: start, within: deadline)
        let url = line.split(separator: " ").last.map(String.init) ?? ""
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// The URL of its "operators on" line.
    func operators() async throws -> String {
        try await line(with: "operators on http").split(separator: " ").last.map(String.init) ?? ""
    }
}
