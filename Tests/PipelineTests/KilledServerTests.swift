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
        try await patchsrv(["publish", release.string, "--label", "killed", "--optimize"], on: site, strace: options)
    }

    private func patchsrv(_ arguments: [String], on site: FilePath, strace options: [String]) async throws -> Outcome {
        let patchsrv = Tool.binaries.appending("patchsrv").string
        return try await run(
            .system("strace"),
            ["-f", "-qq", "-o", site.string + ".trace"] + options + [patchsrv] + arguments + ["--data", site.string]
        )
    }

    /// How many changes the busiest thread made: the kernel counts for each by itself, and nearly all is done by one.
    private func changes(at site: FilePath) throws -> Int {
        let lines = try read(FilePath(site.string + ".trace")).split(separator: "\n")
            .filter { !$0.contains("resumed>") && !$0.contains("+++") && !$0.contains("---") }
        return Dictionary(grouping: lines) { $0.prefix { $0 != " " } }.values.map(\.count).max() ?? 0
    }

    /// Every how many changes it is killed; at every single one with `PATCHLINE_SWEEP=all` in the environment.
    ///
    /// - Parameter parts: how many points otherwise.
    private func points(of changes: Int, parts: Int = 3) -> [Int] {
        let step = Sweep.isFull ? 1 : max(1, changes / parts)
        return Array(stride(from: Sweep.isFull ? 1 : max(1, step / 2), through: changes, by: step))
    }

    enum Command: String, CaseIterable {
        case collect, dial, export, backup
        /// The first command that opens the records makes their file and brings it up to date.
        case records
        /// To a root of trust with another key for targets.
        case trust

        func arguments(_ site: FilePath) -> [String] {
            switch self {
            case .collect: ["gc", "--keep", "0", "--protect", "0h"]
            case .dial: ["dial", "--channel", "production", "--pause", "web"]
            case .export: ["export", site.string + ".www"]
            case .backup: ["backup", site.string + ".backup"]
            case .records: ["audit", "list"]
            case .trust: ["trust", "--trust", site.removingLastComponent().appending("keys").string]
            }
        }

        /// What the audit log has of it in the end, however often it was killed.
        var action: String? {
            switch self {
            case .dial: "dial.turn"
            case .trust: "trust.update"
            case .collect, .export, .backup, .records: nil
            }
        }
    }

    @Test(arguments: Command.allCases)
    func `while it does anything else leaves a whole tree and a whole log, and the same command finishes`(
        _ command: Command
    ) async throws {
        try await World.with { world in
            func fresh(_ name: String) async throws -> FilePath {
                let site = try await world.site(world.shop.site2, as: name)
                guard command == .records else { return site }
                let names = ["", "-wal", "-shm"].map { site.appending("records.sqlite\($0)").string }
                try await run(.system("rm"), ["-f"] + names).done()
                return site
            }
            if command == .trust {
                let keys = world.path("keys")
                try await copy(world.shop.keys, to: keys)
                try await world.sign("rotate", "targets", "--keys", keys.string, "--unencrypted-keys", "--bits", "2048")
                    .done()
            }
            let rehearsal = try await fresh("rehearsal")
            try await patchsrv(command.arguments(rehearsal), on: rehearsal, strace: ["-e", "trace=\(Self.changes)"])
                .done()
            let changes = try changes(at: rehearsal)
            #expect(changes > 3)
            var kills = 0
            for planned in points(of: changes, parts: command == .trust ? 2 : 1) {
                // strace counts the changes of each thread, and how many a thread has is another number each time.
                var (point, isKilled) = (planned, false)
                var site = try await fresh("killed\(point)")
                while true {
                    let inject = "inject=\(Self.changes):signal=SIGKILL:when=\(point)"
                    let options = ["-e", "trace=\(Self.changes)", "-e", inject]
                    isKilled = try await patchsrv(command.arguments(site), on: site, strace: options).code != 0
                    guard !isKilled, kills == 0, point > 1 else { break }
                    try await run(.system("rm"), ["-rf", site.string]).done()
                    point /= 2
                    site = try await fresh("killed\(point)")
                }
                guard isKilled else { break }
                kills += 1
                let tree = try await world.judge(site, root: world.root)
                // A new root is found by its number before the timestamp is replaced, and nothing can replace both at once:
                // in that moment readers refuse what the old key signed, and keep what they have.
                let isBetweenRoots =
                    command == .trust && tree.output.contains("1.targets.json: targets was signed by 0/1 keys")
                    && tree.output.contains("; 1 findings")
                #expect(tree.code == 0 || isBetweenRoots, "at change \(point): \(tree)")
                try await run(.patchsrv, command.arguments(site) + ["--data", site.string]).done()
                #expect(try await run(.patchsrv, ["check", "--data", site.string]).code == 0, "at change \(point)")
                #expect(try await run(.patchsrv, ["audit", "verify", "--data", site.string]).code == 0)
                if let action = command.action {
                    let log = try await run(.patchsrv, ["audit", "export", "--data", site.string]).done()
                    #expect(log.output.split(separator: "\"\(action)\"").count == 2, "at change \(point): \(log)")
                }
                try await run(.system("rm"), ["-rf", site.string]).done()
            }
            #expect(kills > 0)
        }
    }

    @Test func `while it publishes serves the old release or the new one, and has each in its history once`()
        async throws
    {
        try await World.with { world in
            let release = world.shop.release(2)
            let rehearsal = try await world.site(world.shop.site1, as: "rehearsal")
            try await publish(release, to: rehearsal, strace: ["-e", "trace=\(Self.changes)"]).done()
            let changes = try changes(at: rehearsal)
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
            // It dies when the uploader has had so many answers, and before it asks again.
            for answers in [1, 2, 3] {
                let given = token
                let (made, outcome) = try await running(.patchsrv, ["serve", "--data", site.string] + anyPorts) {
                    server in
                    let (devices, url) = (try await server.address(), try await server.operators())
                    let fixture = ServiceFixture(world: world, site: site, url: url, devices: devices)
                    let token = given.isEmpty ? try await fixture.token("*=publisher") : given
                    let arguments = [Tool.script("push.py"), url, token, release.string, "\(answers)"]
                    let (_, push) = try await running(.python, arguments) { push in
                        for number in 1...answers { _ = try await push.line(with: " 20", from: number - 1) }
                        try await server.kill()
                        try push.send(.userDefinedOne)
                        try await push.end()
                    }
                    #expect(push.code == 1, "\(push)")
                    return token
                }
                #expect(outcome.wasKilled, "\(outcome)")
                token = made
            }
            let last = token
            try await serving(site) { devices, url in
                let fixture = ServiceFixture(world: world, site: site, url: url, devices: devices)
                let pushed = try await fixture.push(release, token: last).done()
                #expect(pushed.output.hasSuffix("bytes: published\n"), "\(pushed)")
            }
            #expect(try await run(.patchsrv, ["audit", "verify", "--data", site.string]).code == 0)
        }
    }
}
