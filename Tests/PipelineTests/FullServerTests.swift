import Subprocess
import SystemPackage
import Testing

/// A server on a file system of its own that fills up to its last byte (Judges/full_server.sh).
@Suite("A server's disk that is full", .timeLimit(.minutes(30)))
struct FullServerTests {
    @Test func `is said by every answer and command, costs nothing, and all goes on when there is room`() async throws {
        try await World.with { world in
            try await copy(world.shop.source(3), to: world.path("source"))
            try write(String(repeating: "0123456789abcdef", count: 4_000), to: world.path("source/web/app/large.js"))
            try await world.release(world.path("source"), to: "large", previous: world.shop.release(2)).done()
            let site = try await world.site(world.shop.site2)
            let token = try await world.token(for: site, app: "*", role: "admin")
            let script = try await run(
                .system("bash"),
                [
                    Tool.script("full_server.sh"), Tool.binaries.appending("patchsrv").string, site.string,
                    world.path("large").string, token.string, world.path("small").string, Tool.judgesPython.string,
                ]
            )
            let steps = ScriptStep.all(in: script.output)
            let work = [
                "a part", "a token over HTTP", "a choice over HTTP", "token new", "dial", "publish", "gc", "export",
            ]
            let full = zip(work, [507, 507, 507, 6, 6, 6, 6, 6]).map { "\($0) on a full disk \($1)" }
            let room = zip(work, [200, 201, 200, 0, 0, 0, 0, 0]).map { "\($0) with room \($1)" }
            #expect(
                steps.map { "\($0.name) \($0.code)" } == full + [
                    "the part's offset 200", "a device on a full disk 200", "check on a full disk 0",
                    "stopped on a full disk 0", "a device after a start on a full disk 200",
                    "started and stopped on a full disk 0",
                ] + room + ["check with room 0", "audit verify 0", "stopped with room 0"],
                "\(script)"
            )
            try #require(steps.count == 25, "\(script)")
            for step in steps.prefix(3) {
                #expect(step.text.contains(#""title":"insufficientStorage""#), "\(step.text)")
                #expect(step.text.contains("once an operator has made room"), "\(step.text)")
            }
            #expect(steps[0].text.contains("the received bytes are kept"), "\(steps[0].text)")
            for step in steps[3..<8] {
                #expect(step.text.contains("disk is full"), "\(step.text)")
                #expect(step.text.contains("hint: make room on the disk"), "\(step.text)")
            }
            #expect(steps[8].text.contains(#"{"offset":4096}"#), "\(steps[8].text)")
            #expect(steps[14].text.contains(#"{"offset":64000}"#), "\(steps[14].text)")
            #expect(steps[19].text.contains("published production 3"), "\(steps[19].text)")
        }
    }
}
