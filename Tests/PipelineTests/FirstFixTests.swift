import Foundation
import Subprocess
import SystemPackage
import Testing

/// The page's blocks as they are printed, but for passphrases, answers, ports and addresses.
@Suite("The page that ships a first fix")
struct FirstFixTests {
    private static let app = "com.example.lunch"

    private static func blocks(_ language: String) throws -> [String] {
        let page = try read(Tool.repository.appending("Sources/Device/Patchline/Patchline.docc/FirstFix.md"))
        return page.split(separator: "```\(language)\n").dropFirst().compactMap {
            $0.split(separator: "```").first.map(String.init)
        }
    }

    private func shell(_ script: String, in folder: FilePath) async throws -> String {
        try await run(.system("bash"), ["-ec", "PATH=\"\(Tool.binaries):$PATH\"\n\(script)"], in: folder).done().output
    }

    /// Writes a web app of three files with the page's lines in its head.
    private func writeApp(_ version: String, total: String, in folder: FilePath) throws {
        let lines = try #require(try Self.blocks("html").first)
        let page =
            "<!doctype html><html><head>\n\(lines)<script src=\"app.js\" defer></script></head><body></body></html>"
        try write(page, to: folder.appending("dist/index.html"))
        try write("body { margin: 2rem }", to: folder.appending("dist/style.css"))
        try write("document.body.textContent = \(total);", to: folder.appending("dist/app.js"))
        try write(#"{"version": "\#(version)"}"#, to: folder.appending("package.json"))
    }

    /// Starts the pending version, and confirms it by the printed command, as its page does.
    private func start(_ version: String, of device: RunningProgram, from line: Int, in folder: FilePath) async throws {
        let serving = try await device.line(with: "serving web \(version) (on trial; confirm: ", from: line)
        let command = try #require(serving.firstMatch(of: #/confirm: (.*)\)$/#)).1
        _ = try await shell(String(command), in: folder)
        _ = try await device.line(with: "confirmed: web \(version)", from: line)
    }

    @Test func `installs an app, its fix and the version before by its commands`() async throws {
        try await World.with { world in
            let lunch = world.path("lunch")
            let blocks = try Self.blocks("sh")
            try #require(blocks.count == 7)
            try writeSecret("correct horse\n", to: world.path("pass"))
            try writeApp("1.0.0", total: "8 - 4", in: lunch)
            let pass = "--passphrase-file ../pass"
            let quickstart = "patchsrv quickstart dist --app \(Self.app)"
            #expect(blocks[0] == "\(quickstart)\n")
            _ = try await shell("\(quickstart) \(pass) --no-serve", in: lunch)
            let arguments = [
                "serve", "--data", "\(lunch)/patchline/server", "--passphrase-file", "\(lunch)/patchline/online.pass",
            ]
            let commands = blocks[1].split(separator: "\n").map(String.init)
            try #require(commands.count == 2)
            _ = try await running(.patchsrv, arguments + anyPorts) { server in
                let (url, operators) = (try await server.address(), try await server.operators())
                _ = try await shell(commands[0].replacing("http://127.0.0.1:8080", with: url), in: lunch)
                let serve = commands[1].split(separator: " ").dropFirst().map {
                    ["device", "open.html"].contains($0) ? "\(lunch)/\($0)" : String($0)
                }
                let token = blocks[2].replacing("http://127.0.0.1:8081", with: operators)
                let export = try #require(token.split(separator: "\n").last)
                _ = try await running(.patchsync, serve + ["--port", "0"]) { device in
                    try await start("1.0.0", of: device, from: 0, in: lunch)
                    try writeApp("1.0.1", total: "8 + 4", in: lunch)
                    var seen = await device.lineCount
                    let release = blocks[3].trimmingCharacters(in: .newlines)
                    let fixed = try await shell("\(token)\(release) \(pass)\n\(blocks[4])", in: lunch)
                    #expect(fixed.contains("published production 2 of \(Self.app)\n"), "\(fixed)")
                    _ = try await device.line(with: "synced: release 2, a new version is here", from: seen)
                    _ = try await shell("patchsync switch --store device", in: lunch)
                    try await start("1.0.1", of: device, from: seen, in: lunch)
                    let releases = try await shell("\(export)\n\(blocks[5])", in: lunch)
                    #expect(releases.contains("web 1.0.1, web 1.0.0\n"), "\(releases)")
                    seen = await device.lineCount
                    let rollback = blocks[6].trimmingCharacters(in: .newlines)
                    let undone = try await shell("\(export)\n\(rollback) --yes \(pass)", in: lunch)
                    #expect(undone.contains("published production 3 of \(Self.app)\n"), "\(undone)")
                    _ = try await device.line(with: "synced: release 3, a new version is here", from: seen)
                    _ = try await shell("patchsync switch --store device", in: lunch)
                    try await start("1.0.0", of: device, from: seen, in: lunch)
                }
                #expect(FileManager.default.fileExists(atPath: "\(lunch)/open.html"))
            }
        }
    }
}
