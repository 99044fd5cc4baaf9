import Subprocess
import SystemPackage
import Testing

/// What a person sees who watches, and what a log gets.
@Suite("Long work")
struct LongWorkTests {
    @Test func `says on a terminal what is going on and when it is done, and nothing on standard output`() async throws
    {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let (release, keys) = (world.shop.release(2).string, world.shop.keys.string)
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            let app = Workshop.app
            let work: [(program: String, arguments: [String], expected: [String])] = [
                (
                    "patchsign",
                    ["release", world.shop.source(2).string, "--keys", keys, "--output", "\(world.path("new"))"]
                        + ["--previous", world.shop.release(1).string],
                    [
                        "Verifying the previous release", "Signing entries", "Writing the release",
                        "Verifying the written release", "Weighing updates",
                    ]
                ),
                ("patchsign", ["verify", release, "--keys", keys], ["Verifying"]),
                (
                    "patchsrv", ["publish", release, "--data", site.string],
                    ["Verifying the release for \(app)", "Compressing for \(app)", "Writing to \(app)"]
                ),
                (
                    "patchsrv", ["packs", "--all", "--channel", "production", "--data", site.string],
                    ["Packing \(app)"]
                ),
                ("patchsrv", ["optimize", "--data", site.string], ["Optimizing \(app)"]),
                ("patchsrv", ["check", "--data", site.string], ["Checking \(app)"]),
                (
                    "patchsrv", ["gc", "--keep", "0", "--protect", "0h", "--data", site.string],
                    ["Removing from \(app)"]
                ),
                ("patchsync", ["verify", "--entries", "--store", device.store.string], ["Verifying"]),
            ]
            for (program, arguments, labels) in work {
                let binary = Tool.binaries.appending(program).string
                let watched = try await run(.python, [Tool.script("watched.py"), binary] + arguments).done()
                for label in labels {
                    #expect(watched.errors.contains(try Regex("\(label): done, [0-9,]+ in ")), "\(watched)")
                    #expect(!watched.output.contains(label), "\(watched)")
                }
            }
        }
    }

    @Test func `in a log has a line for each tenth, and an error stands in a line of its own`() async throws {
        try await World.with { world in
            // A thousand files that are quick to sign, for they are known already.
            try await copy(world.shop.source(1), to: world.path("source"))
            for number in 0..<1_000 { try write("\(number)", to: world.path("source/web/many/\(number).txt")) }
            let made = try await world.release(world.path("source"), to: "many").done()
            let lines = made.errors.split(separator: "\n").filter { $0.hasPrefix("Signing entries: ") }
            #expect(lines.count == 11 && lines[1].contains(#/^Signing entries: 1. %, /#), "\(made)")
            #expect(lines.last?.hasPrefix("Signing entries: done, 1,0") == true, "\(made)")
            #expect(!made.output.contains("Signing entries"), "\(made)")

            let object = try await run(.system("sh"), ["-c", "ls \(world.path("many"))/objects/*/* | tail -1"]).done()
                .output
            try write("altered", to: FilePath(String(object.dropLast())))
            let binary = Tool.binaries.appending("patchsign").string
            let arguments = ["verify", world.path("many").string, "--keys", world.shop.keys.string]
            let plain: [Environment.Key: String?] = ["NO_COLOR": "1"]
            let torn = try await run(.python, [Tool.script("watched.py"), binary] + arguments, environment: plain)
            #expect(torn.code == 3 && torn.errors.contains("\r\u{1B}[Kerror: "), "\(torn)")
        }
    }
}
