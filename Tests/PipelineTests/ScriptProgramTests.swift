import Subprocess
import SystemPackage
import Testing

/// P11 and what a release's author asks before signing: the program that has the engine.
@Suite("patchscript")
struct ScriptProgramTests {
    private static let fix = """
        defineClass('CartController', {
          total() {
            console.log('was', self.ORIGtotal());
            return self.ORIGtotal() - 1;
          }
        });
        """

    @Test func `says where a script is no program, and which names no host knows`() async throws {
        try await World.with { world in
            try write(Self.fix, to: world.path("fix.js"))
            try write("var a = 1;\nvar b = = 2;\n", to: world.path("bad.js"))
            let bad = try await run(.patchscript, ["check", "fix.js", "bad.js"], in: world.folder)
            #expect(bad.code == 4 && bad.errors == "error: bad.js:2:9: SyntaxError: Unexpected token '='\n", "\(bad)")
            let interface =
                #"{"format":"patchline-host-v1","types":[{"name":"CartController","methods":[],"statics":[]}]}"#
            try write(interface, to: world.path("host.json"))
            let warned = try await run(.patchscript, ["check", "fix.js", "--host", "host.json"], in: world.folder)
            #expect(warned.code == 0, "\(warned)")
            #expect(
                warned.errors.hasPrefix(
                    "warning: fix.js: line 2: CartController of the host has no 'total': it is a new method\n"
                )
            )
            let none = try await run(.patchscript, ["check", "fix.js", "--host", "fix.js"], in: world.folder)
            #expect(none.code == 4 && none.errors.contains("hint: a host writes it as PatchHost.interface"), "\(none)")
            let missing = try await run(.patchscript, ["check", "none.js"], in: world.folder)
            #expect(missing.code == 6, "\(missing)")
        }
    }

    @Test func `runs a local script on a sample host, and gives the original back`() async throws {
        try await World.with { world in
            try write(Self.fix, to: world.path("demo.js"))
            let good = try await run(.patchscript, ["eval", "demo.js"], in: world.folder)
            #expect(
                good.code == 0
                    && good.output == "demo.js: Success\ndemo.js: was 1800\ntotal: 1799 with it, 1800 without it\n",
                "\(good)"
            )
            try write("defineClass('CartController', { total() { return x } })", to: world.path("late.js"))
            let late = try await run(.patchscript, ["eval", "late.js"], in: world.folder)
            #expect(late.code == 4 && late.errors.contains("late.js:1:"), "\(late)")
            try write("throw new Error('no')", to: world.path("bad.js"))
            let bad = try await run(.patchscript, ["eval", "bad.js"], in: world.folder)
            #expect(bad.code == 4 && bad.output == "bad.js: UnKnownError\n", "\(bad)")
        }
    }

    @Test func `waits for what a local script leaves for later, and tells what fails in it`() async throws {
        try await World.with { world in
            try write("dispatch_after(0.05, () => console.log('later'));", to: world.path("good.js"))
            let good = try await run(.patchscript, ["eval", "good.js"], in: world.folder)
            #expect(good.code == 0 && good.output.hasPrefix("good.js: later\ngood.js: Success\n"), "\(good)")
            try write("dispatch_async_main(() => { throw new Error('late') });", to: world.path("late.js"))
            let late = try await run(.patchscript, ["eval", "late.js"], in: world.folder)
            #expect(late.code == 4 && late.errors == "error: late.js:1:44: Error: late\n", "\(late)")
            try write("Promise.reject(new Error('no'));", to: world.path("promise.js"))
            let promise = try await run(.patchscript, ["eval", "promise.js"], in: world.folder)
            #expect(promise.code == 4 && promise.output == "promise.js: UnKnownError\n", "\(promise)")
        }
    }

    @Test func `prints the interface of its sample host as it is read`() async throws {
        try await World.with { world in
            let printed = try await run(.patchscript, ["interface"]).done()
            try write(printed.output, to: world.path("host.json"))
            try write("defineClass('CartController', { totl() {} })", to: world.path("fix.js"))
            let warned = try await run(.patchscript, ["check", "fix.js", "--host", "host.json"], in: world.folder)
            #expect(
                warned.code == 0
                    && warned.errors
                        == "warning: fix.js: line 1: CartController of the host has no 'totl': it is a new method\n",
                "\(warned)"
            )
        }
    }

    /// In a process of its own, for JavaScriptCore 2.50 may end the process by an assertion of its own (`VMTraps`).
    ///
    /// That is when two of its timers meet, which a stop among promises' jobs makes possible. Either way the script does not run on.
    @Test func `ends a script whose promises never end`() async throws {
        try await World.with { world in
            try write("const again = () => Promise.resolve().then(again); again();", to: world.path("loop.js"))
            let ended = try await run(.patchscript, ["eval", "loop.js"], in: world.folder)
            let isStopped = ended.code == 4 && ended.errors.contains("it exceeded its time limit")
            #expect(isStopped || ended.status == .signaled(6), "\(ended)")
        }
    }

    /// The engine's limit of time finds no chain of jobs that makes no garbage.
    @Test func `ends for a script that never comes to an end in a way that the engine does not see`() async throws {
        try await World.with { world in
            try write("(async () => { for (;;) await 0 })();", to: world.path("loop.js"))
            let program = Tool.binaries.appending("patchscript").string
            let ended = try await run(
                .system("bash"),
                ["-c", #"ulimit -St 2; "$0" eval loop.js"#, program],
                in: world.folder
            )
            let error = "error: the scripts used up their processor time and did not end\n"
            #expect(ended.code == 4 && ended.errors == error, "\(ended)")
        }
    }

    @Test func `waits ten seconds at most for what a script leaves for later`() async throws {
        try await World.with { world in
            try write("dispatch_after(3600, () => {});", to: world.path("late.js"))
            let late = try await run(.patchscript, ["eval", "late.js"], in: world.folder)
            let warning = "warning: it still has pending work, which was not waited for\n"
            #expect(late.code == 0 && late.errors == warning, "\(late)")
        }
    }

    @Test func `evaluates lines in one context, with scripts loaded before`() async throws {
        try await World.with { world in
            try write(Self.fix, to: world.path("demo.js"))
            let lines =
                #"printf 'let a = 20\nnew (require("CartController"))().total()\na + 1\nthrow 5\n' | "$0" console demo.js"#
            let program = Tool.binaries.appending("patchscript").string
            let said = try await run(.system("bash"), ["-c", lines, program], in: world.folder)
            #expect(said.code == 0 && said.output == "null\ndemo.js: was 1800\n1799\n21\n", "\(said)")
            #expect(said.errors == "error: it throws 5, which is not an error\n")

            // What a line leaves for later is told as well, also where the input is over.
            let later = #"printf 'dispatch_async_main(() => { throw new Error("late") })\n' | "$0" console"#
            let late = try await run(.system("bash"), ["-c", later, program], in: world.folder)
            #expect(late.code == 0 && late.errors == "error: Error: late\n", "\(late)")

            // Whoever looks for what is wrong needs the console most of all.
            try write("throw new Error('no')", to: world.path("bad.js"))
            let line = #"printf '1 + 1\n' | "$0" console bad.js"#
            let failed = try await run(.system("bash"), ["-c", line, program], in: world.folder)
            #expect(failed.code == 0 && failed.output == "2\n", "\(failed)")
            #expect(failed.errors == "error: bad.js local: Error: no (bad.js:1:16)\n", "\(failed)")
        }
    }

    @Test func `runs the active scripts of a store and prints their states`() async throws {
        try await World.with { world in
            let device = try await world.settledDevice(server: "http://127.0.0.1:9")
            let table = try await run(.patchscript, ["run", "--store", device.store.string])
            let rows = "PATCH  VERSION  STATE    WHY\nfix    1        Success\ntip    1        Success\n"
            #expect(table.code == 0 && table.output == rows, "\(table)")
            let json = try await run(.patchscript, ["run", "--store", device.store.string, "--json"])
            let first = #"{"patches":[{"patchId":"fix","state":"Success","version":"1"}"#
            #expect(json.code == 0 && json.output.hasPrefix(first), "\(json)")
            let below = try await run(.patchscript, ["run", "--store", "device"], in: world.folder)
            #expect(below.code == 0 && below.output == rows, "\(below)")
            let none = try await run(.patchscript, ["run", "--store", "none"], in: world.folder)
            let error = "error: \(world.path("none")) is not a Patchline store\n"
            let hint = "hint: make one: patchsync init --store DIR --root root.json --server URL\n"
            #expect(none.code == 6 && none.errors == error + hint, "\(none)")
            let dashed = try await run(.patchscript, ["run", "--store=-none"], in: world.folder)
            let dashedError = "error: \(world.path("-none")) is not a Patchline store\n"
            #expect(dashed.code == 6 && dashed.errors == dashedError + hint, "\(dashed)")
            let document = try await run(.patchscript, ["run", "--store", "none", "--json"], in: world.folder)
            #expect(document.code == 6 && document.output.hasPrefix("{\"error\":{"), "\(document)")
        }
    }
}
