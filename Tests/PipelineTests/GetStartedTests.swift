import Foundation
import Subprocess
import SystemPackage
import Testing

/// The tutorial's blocks as they are printed, but for the passphrase, the ports and the server's address.
@Suite("The page that gets you started")
struct GetStartedTests {
    private static let quickstart = "patchsrv quickstart app --app com.example.hello"

    private static func blocks() throws -> [String] {
        let page = try read(Tool.repository.appending("Sources/Device/Patchline/Patchline.docc/GetStarted.md"))
        return page.matches(of: #/(?s)```sh\n(.*?)```/#).map { String($0.1) }
    }

    private func shell(_ script: String, in folder: FilePath) async throws -> Outcome {
        try await run(.system("bash"), ["-ec", "PATH=\"\(Tool.binaries):$PATH\"\n\(script)"], in: folder).done()
    }

    @Test func `makes an app, three releases and a device by its commands`() async throws {
        try await World.with { world in
            let blocks = try Self.blocks()
            try #require(blocks.count == 5)
            try writeSecret("correct horse\n", to: world.path("pass"))
            let started = "\(Self.quickstart) --passphrase-file ../pass --no-serve"
            _ = try await shell(blocks[0], in: world.folder)
            let hello = world.path("hello")
            for (number, block) in [(1, blocks[1]), (2, blocks[3]), (3, blocks[4])] {
                #expect(block.contains("\(Self.quickstart)\n"))
                let made = try await shell(block.replacing(Self.quickstart, with: started), in: hello)
                let line = "signed \(hello)/app as release \(number), in \(hello)/patchline/releases/\(number)\n"
                #expect(made.output.contains(line), "\(made)")
            }
            let arguments = [
                "serve", "--data", "\(hello)/patchline/server", "--passphrase-file", "\(hello)/patchline/online.pass",
            ]
            let commands = blocks[2].split(separator: "\n").map(String.init)
            try #require(commands.count == 2)
            _ = try await running(.patchsrv, arguments + anyPorts) { server in
                let url = try await server.address()
                _ = try await shell(commands[0].replacing("http://127.0.0.1:8080", with: url), in: hello)
                let serve = commands[1].split(separator: " ").dropFirst().map {
                    ["device", "open.html"].contains($0) ? "\(hello)/\($0)" : String($0)
                }
                _ = try await running(.patchsync, serve + ["--port", "0"]) { device in
                    _ = try await device.line(with: "serving web 3.0.0 (on trial; confirm: echo ")
                }
                #expect(FileManager.default.fileExists(atPath: "\(hello)/open.html"))
            }
        }
    }
}
