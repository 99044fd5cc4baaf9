import Subprocess
import SystemPackage
import Testing

/// What a step of a script printed, and its exit code: `-- NAME`, lines, `-> CODE`.
struct ScriptStep {
    let name: String
    let text: String
    let code: Int

    static func all(in output: String) -> [ScriptStep] {
        output.split(separator: "-- ").map { part in
            let lines = part.split(separator: "\n", omittingEmptySubsequences: false)
            let code = lines.last { $0.hasPrefix("-> ") }.flatMap { Int($0.dropFirst(3)) } ?? -1
            return ScriptStep(
                name: String(lines[0]),
                text: lines.dropFirst().joined(separator: "\n"),
                code: code
            )
        }
    }
}

/// A file system of its own for the store (Judges/full_disk.sh), and a user who may not write.
@Suite("A disk that takes nothing")
struct FullDiskTests {
    @Test func `that is full or read-only costs nothing that runs, and the next sync with room finishes`()
        async throws
    {
        let fixture = try await DownloadFixture.ready()
        try await World.with { world in
            try await world.withServer(of: fixture.site(2)) { server in
                let device = try await fixture.device(running: 1, asking: server, in: world)
                let script = try await run(
                    .system("bash"),
                    [
                        Tool.script("full_disk.sh"), Tool.binaries.appending("patchsync").string, device.store.string,
                        world.path("small").string,
                    ]
                )
                let steps = ScriptStep.all(in: script.output)
                let codes = steps.map { "\($0.name) \($0.code)" }
                #expect(
                    codes == [
                        "sync on a full disk 6", "dry run on a full disk 6", "status on a full disk 0", "room 0",
                        "serve on a full disk 0", "verify 0", "sync with room 0", "verify 0",
                        "switch on a read-only disk 6", "sync on a read-only disk 6", "status on a read-only disk 0",
                        "verify on a read-only disk 0", "serve on a read-only disk 0", "switch 0", "verify 0",
                    ],
                    "\(script)"
                )
                try #require(steps.count == 15, "\(script)")
                // It is refused before it fills what is left.
                for step in steps[0...2] {
                    #expect(step.text.contains("web 2.0.0 needs "), "\(step.text)")
                    #expect(step.text.contains("are kept in reserve)"), "\(step.text)")
                }
                #expect(steps[4].text.contains("<title>release 1</title>"), "\(steps[4].text)")
                #expect(steps[8].text.contains("the file system is read-only"), "\(steps[8].text)")
                #expect(steps[9].text.contains("the file system is read-only"), "\(steps[9].text)")
                #expect(
                    steps[10].text.contains(
                        "web    bundle  2.0.0    downloaded, starts at the next launch  now: `patchsync switch`"
                    ),
                    "\(steps[10].text)"
                )
                // The update on disk would be a trial that cannot be counted.
                #expect(steps[12].text.contains("<title>release 1</title>"), "\(steps[12].text)")
            }
        }
    }

    @Test func `because the store is another user's says so, runs what is there, and changes nothing`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                let before = try await StoreDigest(of: device.store)
                // Root would not be stopped by permissions.
                let program = world.path("patchsync")
                try await copy(Tool.binaries.appending("patchsync"), to: program)
                try await run(
                    .system("bash"),
                    ["-c", "chmod -R a+rX,a-w '\(device.store)' && chmod a+rx '\(world.folder)' '\(Workshop.folder)'"]
                ).done()
                let other = ["--reuid", "65534", "--regid", "65534", "--clear-groups", program.string]
                let sync = try await run(.system("setpriv"), other + ["sync", "--store", device.store.string])
                #expect(sync.code == 6 && sync.errors.contains("permission denied"), "\(sync)")
                let check = try await run(
                    .system("setpriv"),
                    other + ["verify", "--entries", "--store", device.store.string]
                )
                #expect(check.code == 0, "\(check)")
                #expect(try await StoreDigest(of: device.store) == before)
                try await run(.system("bash"), ["-c", "chmod -R u+w '\(device.store)'"]).done()
                try await device.sync().done()
            }
        }
    }
}
