import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// What Judges/crowd.py found.
private struct Crowd: Decodable {
    let held: Int
    let refused: Int
    let otherwise: [String]
    let meanwhile: [Int]
    let asked: Int
    let again: Int
    let grownKB: Int
}

@Suite("A crowd before patchsync serve")
struct CrowdTests {
    /// The program may open 256 files, so that it takes 128 connections; a machine that grants more meets the same rule later.
    @Test func `of 10,000 connections keeps no one out who was there before, nor any file closed`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            // Its clients name 127.0.0.1.
            try await device("set", "--no-own-host").done()
            let program = Tool.binaries.appending("patchsync").string
            let arguments = ["--nofile=256:256", program, "serve", "--store", device.store.string, "--port", "0"]
            _ = try await running(.system("prlimit"), arguments + ["--no-sync"]) { program in
                let address = try await program.address()
                let page = try await Page.opened(device: device, program: program, address: address)
                let port = try #require(page.url.split(separator: ":").last)
                let outcome = try await run(
                    .python,
                    [
                        Tool.script("crowd.py"), String(port), "10000", "128", page.cookie ?? "", "/app/main.js",
                        "\(program.id)",
                    ]
                ).done()
                let crowd = try JSONDecoder().decode(Crowd.self, from: Data(outcome.output.utf8))
                // One of the 128 is the client that was there before.
                #expect(crowd.held == 127 && crowd.refused == 9_873, "\(outcome)")
                #expect(crowd.otherwise == [], "\(outcome)")
                #expect(crowd.meanwhile == [200] && crowd.asked == 12, "\(outcome)")
                #expect(crowd.again == 20, "\(outcome)")
                #expect(crowd.grownKB < 16_000, "\(outcome)")
            }
        }
    }
}
