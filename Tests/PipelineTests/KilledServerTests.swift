import FoundationEssentials
import PatchTesting
import Subprocess
import SystemPackage
import Testing

/// The real `patchsrv` on the real disk, killed by the kernel at one of its own changes (`strace -e inject`).
@Suite("A patchsrv that is killed")
struct KilledServerTests {
    /// What changes a name, a length or what is durable; SQLite writes with pwrite64.
    private static let changes = "rename,renameat2,fsync,fdatasync,syncfs,pwrite64,ftruncate,unlink,mkdir,rmdir"

    private func publish(_ release: FilePath, to site: FilePath, strace options: [String]) async throws -> Outcome {
        let patchsrv = Tool.binaries.appending("patchsrv").string
        return try await run(
            .system("strace"),
            ["-f", "-qq", "-o", site.string + ".trace"] + options + [
                patchsrv, "publish", release.string, "--data", site.string, "--label", "killed",
            ]
        )
    }

    /// Every how many changes it is killed; at every single one with `PATCHLINE_SWEEP=all` in the environment.
    private func points(of changes: Int) -> [Int] {
        Array(stride(from: 1, through: changes, by: Sweep.isFull ? 1 : max(1, changes / 3)))
    }

    @Test func `while it publishes serves the old release or the new one, and has each in its history once`()
        async throws
    {
        try await World.with { world in
            let release = world.shop.release(2)
            let rehearsal = try await world.site(world.shop.site1, as: "rehearsal")
            try await publish(release, to: rehearsal, strace: ["-e", "trace=\(Self.changes)"]).done()
            // The kernel counts for each thread by itself, and nearly all is done by one.
            let lines = try read(FilePath(rehearsal.string + ".trace")).split(separator: "\n")
                .filter { !$0.contains("resumed>") && !$0.contains("+++") && !$0.contains("---") }
            let threads = Dictionary(grouping: lines) { $0.prefix { $0 != " " } }
            let changes = threads.values.map(\.count).max() ?? 0
            #expect(changes > 40)
            var kills = 0
            for point in points(of: changes) {
                let site = try await world.site(world.shop.site1, as: "killed\(point)")
                let inject = "inject=\(Self.changes):signal=SIGKILL:when=\(point)"
                let killed = try await publish(
                    release,
                    to: site,
                    strace: ["-e", "trace=\(Self.changes)", "-e", inject]
                )
                // Which thread does how much is the system's choice: the last points may not come.
                if killed.code == 0 { break }
                kills += 1

                let listed = try await run(.patchsrv, ["list", "--data", site.string, "--json"])
                #expect(listed.code == 0, "at change \(point): \(listed)")
                let tree = try await run(
                    .python,
                    [Tool.checkTree.string, site.appending("tree/\(Workshop.app)").string, world.root.string]
                )
                #expect(tree.code == 0, "at change \(point): \(tree)")
                try await run(.patchsrv, ["publish", release.string, "--data", site.string, "--label", "after"]).done()
                let history = try await run(
                    .patchsrv,
                    ["history", "--app", Workshop.app, "--channel", "production", "--data", site.string, "--json"]
                ).done()
                let versions = history.output.matches(of: #/"roleVersion": ?([0-9]+)/#).map { String($0.1) }
                #expect(versions == ["2", "1"], "at change \(point): \(history)")
                #expect(try await run(.patchsrv, ["audit", "verify", "--data", site.string]).code == 0)
                try await run(.system("rm"), ["-rf", site.string]).done()
            }
            #expect(kills > 1)
        }
    }

    @Test func `while a release is uploaded goes on with what had arrived`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let release = world.shop.release(2)
            var token = ""
            // It dies as soon as the uploader has had so many answers.
            for answers in [1, 2, 3] {
                let given = token
                let (made, outcome) = try await running(.patchsrv, ["serve", "--data", site.string, "--port", "0"]) {
                    server in
                    let url = try await server.address()
                    let yard = ServiceYard(world: world, site: site, url: url)
                    let token = given.isEmpty ? try await yard.token("*=publisher") : given
                    let (_, push) = try await running(.python, [Tool.script("push.py"), url, token, release.string]) {
                        push in
                        for number in 1...answers { _ = try await push.line(with: " 20", from: number - 1) }
                        try await server.kill()
                        try await push.end()
                    }
                    #expect(push.code == 1, "\(push)")
                    return token
                }
                #expect(outcome.wasKilled, "\(outcome)")
                token = made
            }
            let last = token
            try await serving(site) { url in
                let yard = ServiceYard(world: world, site: site, url: url)
                let pushed = try await yard.push(release, token: last).done()
                #expect(pushed.output.hasSuffix("bytes: published\n"), "\(pushed)")
            }
            #expect(try await run(.patchsrv, ["audit", "verify", "--data", site.string]).code == 0)
        }
    }
}
