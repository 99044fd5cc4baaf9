import FoundationEssentials
import HTTPAPI
import PatchChoice
import PatchStore
import PatchSync
import PatchTesting
import Patchline
import SystemPackage
import Testing

@testable import PatchDaemon

/// What the page says is run as it stands there, but for the place of the socket.
@Suite("The page of the local socket", .serialized, .timeLimit(.minutes(10)))
struct RecipeTests {
    private static let repository = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().removingLastComponent()

    /// The recipe under a heading.
    private func recipe(_ heading: String, for host: TestHost) throws -> String {
        let page = Self.repository.appending("Sources/Device/Patchline/Patchline.docc/LocalAPI.md")
        let text = String(decoding: try DiskFiles().read(page, limit: 1_000_000), as: UTF8.self)
        let section = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("\(heading)\n") })
        let block = try #require(section.firstMatch(of: #/```[a-z]+\n((?s).*?)```/#)?.1)
        #expect(block.contains("/run/patchline/patchsync.sock"))
        return String(block.replacing("/run/patchline/patchsync.sock", with: host.socket.string))
    }

    private func write(_ text: String, _ name: String, for host: TestHost) throws -> String {
        let file = host.root.appending(name)
        try DiskFiles().write(Array(text.utf8), to: file)
        return file.string
    }

    @Test func `has a shell's recipe that works`() async throws {
        try await TestHost.with { host in
            let said = try await run("bash", ["-ec", try recipe("A shell", for: host)])
            #expect(said.code == 0 && said.output.split(separator: "\n").count == 8, "\(said)")
            #expect(said.output.contains(#""staging":"staged""#) && said.output.contains(#""result":"confirmed""#))
            #expect(said.output.contains(#""metered":true"#))
            #expect(try !host.device().configuration.network.isMetered, "it takes that back")
        }
    }

    @Test func `has Python's recipe that works`() async throws {
        try await TestHost.with { host in
            let file = try write(try recipe("Python", for: host), "recipe.py", for: host)
            let said = try await run("python3", [file])
            #expect(said.code == 0 && said.output == "fix 1\nweb 2\n", "\(said)")
        }
    }

    @Test func `has a recipe in C that compiles without a warning and works`() async throws {
        try await TestHost.with { host in
            let file = try write(try recipe("C", for: host), "recipe.c", for: host)
            let program = host.root.appending("recipe").string
            let compiled = try await run("cc", ["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-o", program, file])
            try #require(compiled.code == 0, "\(compiled)")
            let said = try await run(program, [])
            #expect(said.code == 0 && said.output.contains(#""phase":"settled""#), "\(said)")
            let failed = try await run(program, ["POST", "/v1/stores/shop/switch"])
            #expect(failed.code == 1 && failed.output.contains("No pending version to switch to"), "\(failed)")
        }
    }

    @Test func `has a kiosk that opens the app and takes what is new`() async throws {
        try await TestHost.with { host in
            let browser = try write("#!/bin/sh\necho \"$2\" >\"${0%/*}/opened\"\n", "chromium", for: host)
            _ = try await run("chmod", ["+x", browser])
            let file = try write(try recipe("A kiosk", for: host), "kiosk.sh", for: host)
            async let kiosk = run("sh", ["-c", "PATH=\"${1%/*}:$PATH\" exec sh \"$1\"", "sh", file])
            while host.log.hub.listeners == 0 { await Task.yield() }
            _ = try await host.sync(SyncRequest())
            while try host.device().state().machine.state.phase != .trying { await Task.yield() }
            host.log.close()
            let said = try await kiosk
            #expect(said.code == 0 && said.output.contains(#""result":"trying""#), "\(said)")
            let opened = try DiskFiles().read(host.root.appending("opened"), limit: 1_000)
            #expect(String(decoding: opened, as: UTF8.self) == "\(host.pages()?.url ?? "")\n")
        }
    }

    @Test func `is beside a description that the socket keeps to`() async throws {
        guard let python = ProcessInfo.processInfo.environment["PATCHLINE_JUDGES_PYTHON"] else {
            Issue.record("PATCHLINE_JUDGES_PYTHON is not set: a Python with schemathesis")
            return
        }
        try await TestHost.with { host in
            let judge = Self.repository.appending("Tests/PatchDaemonTests/openapi.py").string
            let judged = try await run(python, [judge, host.socket.string, host.root.string])
            #expect(judged.code == 0 && judged.output.contains("Tested: "), "\(judged.output.suffix(4_000))")
        }
    }
}
