import FoundationEssentials
import GatewayClients
import Gateways
import PatchFetch
import PatchFormat
import PatchCrypto
import SystemPackage
import Testing

@Suite("A package for JSPatch's platform, by command")
struct PlatformPackTests {
    private static let keyText = "0a1b2c3d4e5f6071"
    /// Where the platform's clients ask, below a folder that any server can serve.
    private static let folder = "www/0a1b2c3d/2.1"

    /// Scripts, a key of openssl's, and one of sixteen bytes.
    private static func prepare(_ world: World) async throws {
        try write("include('cart.js')\n", to: world.path("main.js"))
        try write("total()\n", to: world.path("cart.js"))
        try writeSecret(keyText, to: world.path("aes.key"))
        let making = """
            mkdir -p \(folder); openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out jspatch.key 2>/dev/null
            openssl pkey -in jspatch.key -pubout -out jspatch.pub
            """
        try await run(.system("sh"), ["-ec", making], in: world.folder).done()
    }

    private static func pack(_ world: World, _ arguments: String...) async throws -> Outcome {
        try await run(
            .patchsign,
            ["pack"] + arguments + ["--jspatch-key", "jspatch.key", "--aes-key", "aes.key"],
            in: world.folder
        )
    }

    private static func shell(_ world: World, _ script: String) async throws -> String {
        try await run(.system("sh"), ["-ec", script], in: world.folder).done().output
    }

    @Test func `is what tar, openssl and gunzip take, and the sync file names it`() async throws {
        try await World.with { world in
            try await Self.prepare(world)
            let packed = try await Self.pack(
                world,
                "main.js",
                "cart.js",
                "-o",
                "\(Self.folder)/file3",
                "--app-version",
                "2.1"
            ).done()
            let lines = packed.output.split(separator: "\n")
            #expect(
                lines.first?.hasSuffix(" bytes; marked as version 3 for app version 2.1") == true,
                "\(packed)"
            )
            #expect(lines.last == "\(world.path("\(Self.folder)/index.html")): {\"v\":3}", "\(packed)")
            let judge = """
                tar -xf \(Self.folder)/file3; ls key scripts
                test "$(openssl pkeyutl -verifyrecover -pubin -inkey jspatch.pub -in key)" = "$(md5sum <scripts | cut -c -32)"
                openssl enc -d -aes-128-cbc -K "$(od -An -tx1 aes.key | tr -d ' ')" -iv 00000000000000000000000000000000 \
                <scripts | gunzip >scripts.tar
                mkdir in; tar -xf scripts.tar -C in; cmp in/main.js main.js; cmp in/cart.js cart.js; ls in; cat in/patchline.json
                """
            let expected = "key\nscripts\ncart.js\nmain.js\npatchline.json\n" + #"{"appVersion":"2.1","version":3}"#
            #expect(try await Self.shell(world, judge) == expected)
            #expect(try await Self.shell(world, "grep -rlE 'total|main|\(Self.keyText)' www || echo none") == "none\n")
        }
    }

    @Test func `is warned of where it says another app version than its folder, and needs a folder`() async throws {
        try await World.with { world in
            try await Self.prepare(world)
            let moved = try await Self.pack(world, "main.js", "-o", "\(Self.folder)/file4", "--app-version", "2.2")
                .done()
            #expect(
                moved.errors
                    == "warning: the package is for app version 2.2, but it is in the folder 2.1, "
                    + "where this project's clients reject it\n"
            )
            let right = try await Self.pack(world, "main.js", "-o", "\(Self.folder)/file5", "--app-version", "2.1")
                .done()
            #expect(right.errors == "")
            let nowhere = try await Self.pack(world, "main.js", "-o", "p/file3")
            #expect(nowhere.code == 6 && nowhere.errors.contains("error: there is no folder "), "\(nowhere)")
            #expect(nowhere.errors.hasSuffix("hint: mkdir -p makes it\n"), "\(nowhere)")
        }
    }

    @Test func `is the same each time, and tells what it is asked to`() async throws {
        try await World.with { world in
            try await Self.prepare(world)
            for folder in [Self.folder, "again"] {
                _ = try await Self.shell(world, "mkdir -p \(folder)")
                for arguments in [
                    ["\(folder)/file3"], ["\(folder)/file4", "--gray", "2", "--run-later"],
                    ["\(folder)/file5", "--condition", "ios>=9.0&&isMale==1", "--otherwise", "3", "--paused"],
                ] {
                    let command = ["pack", "main.js", "--jspatch-key", "jspatch.key", "--aes-key", "aes.key", "-o"]
                    let packed = try await run(.patchsign, command + arguments, in: world.folder).done()
                    #expect(packed.output.contains("; not marked with app version and number\n"), "\(packed)")
                    let reported = [
                        "3": #"{"v":3}"#, "4": #"{"g":2,"r":true,"v":4}"#,
                        "5": #"{"c":"ios>=9.0&&isMale==1","cv":3,"p":true,"v":5}"#,
                    ]
                    let expected = arguments[0].last.flatMap { reported[String($0)] }
                    #expect(try await Self.shell(world, "cat \(folder)/index.html") == expected)
                }
            }
            let lower = try await Self.pack(world, "main.js", "-o", "again/file1").done()
            #expect(
                lower.errors.contains(
                    "warning: its version was 5 before: JSPatch's own clients return to 1, and ours keep theirs\n"
                )
            )
            #expect(
                !(try await Self.pack(world, "main.js", "-o", "again/file2").done()).errors.contains(
                    "warning: its version was"
                )
            )
            _ = try await Self.shell(world, "rm again/file1 again/file2; cp \(Self.folder)/index.html again/index.html")
            #expect(
                try await Self.shell(world, "diff -r \(Self.folder) again; ls again")
                    == "file3\nfile4\nfile5\nindex.html\n"
            )
            let modes = try await Self.shell(world, "stat -c %a again/file3 again/index.html")
            #expect(modes == "644\n644\n")
        }
    }

    @Test func `is paused, goes on and is deleted by its sync file alone, without a key`() async throws {
        try await World.with { world in
            try await Self.prepare(world)
            try await Self.pack(world, "main.js", "-o", "\(Self.folder)/file3", "--gray", "2").done()
            func tell(_ options: String...) async throws -> Outcome {
                try await run(.patchsign, ["pack", "--tell", Self.folder] + options, in: world.folder)
            }
            func said() async throws -> String { try await Self.shell(world, "cat \(Self.folder)/index.html") }
            for (options, expected) in [
                (["--paused"], #"{"p":true,"v":3}"#), ([], #"{"v":3}"#),
                (["--gray", "0"], #"{"p":true,"v":3}"#),
                (["--condition", "ios>=9.0", "--otherwise", "2"], #"{"c":"ios>=9.0","cv":2,"v":3}"#),
            ] {
                let reported = try await run(
                    .patchsign,
                    ["pack", "--tell", Self.folder] + options,
                    in: world.folder
                ).done()
                #expect(reported.output.hasSuffix("index.html: \(expected)\n"), "\(reported)")
                #expect(try await said() == expected)
            }
            let both = try await tell("--delete", "--paused")
            #expect(
                both.code == 64 && both.errors.contains("--delete excludes the other options of the sync file"),
                "\(both)"
            )
            let packing = try await tell("main.js")
            #expect(
                packing.code == 64
                    && packing.errors.contains("--tell packs nothing, so it excludes files and keys")
            )
            let share = try await tell("--gray", "11")
            #expect(share.code == 64 && share.errors.contains("--gray must be an integer from 0 to 10"), "\(share)")
            #expect(try await said() == #"{"c":"ios>=9.0","cv":2,"v":3}"#, "nothing of it was told")
            try await tell("--delete").done()
            #expect(try await said() == #"{"e":1}"#)
            let gone = try await tell("--paused")
            #expect(gone.code == 8 && gone.errors.contains("index.html names no version"), "\(gone)")
            #expect(try await said() == #"{"e":1}"#)
            let none = try await run(.patchsign, ["pack", "--tell", "."], in: world.folder)
            #expect(none.code == 8 && none.errors.contains("index.html names no version"), "\(none)")
            let nowhere = try await run(.patchsign, ["pack", "--tell", "nope", "--paused"], in: world.folder)
            #expect(nowhere.code == 6 && nowhere.errors.contains("error: there is no folder "), "\(nowhere)")
            let bare = try await run(.patchsign, ["pack", "--delete", "main.js"], in: world.folder)
            #expect(bare.code == 64 && bare.errors.contains("--delete needs --tell"), "\(bare)")
        }
    }

    @Test func `reaches a device from a server that knows nothing of it, and lies there encrypted`() async throws {
        try await World.with { world in
            try await Self.prepare(world)
            try await Self.pack(world, "main.js", "cart.js", "-o", "\(Self.folder)/file3", "--app-version", "2.1")
                .done()
            let pem = try String(contentsOfFile: world.path("jspatch.pub").string, encoding: .utf8)
            let app = PlatformClient.App(
                PlatformPlace(try #require(PlatformAppKey("0a1b2c3d")), try #require(AppVersion("2.1"))),
                device: try #require(PlatformDeviceID("device 1")),
                signer: try JSPatchPublicKey(pem: pem),
                key: try #require(AESKey(Array(Self.keyText.utf8)))
            )
            let (client, draw) = (PlatformClient(world.path("JSPatch"), app: app), try #require(PlatformDraw(5)))
            let arguments = [
                "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", world.path("www").string,
            ]
            _ = try await running(.python, arguments) { host in
                let line = try await host.line(with: "Serving HTTP on")
                let port = try #require(line.firstMatch(of: #/port (\d+)/#)?.1)
                let url = try #require(ServerURL("http://127.0.0.1:\(port)"))
                let now = UTCTime(seconds: 1_700_000_000)
                try await PlatformClient.fetching(from: url) { (fetcher) async throws in
                    let first = try await client.sync(from: fetcher, now: now) { draw }
                    #expect(first == .install(try #require(LoaderVersion(3)), run: .now))
                    let second = try await client.sync(from: fetcher, now: now) { draw }
                    #expect(second == .keep(.alreadyInstalled(try #require(LoaderVersion(3)))))
                }
                let scripts = try #require(try client.scripts())
                #expect(scripts.main == "include('cart.js')\n" && scripts.include("cart.js") == "total()\n")
                let found = "grep -rlE 'total|include|main.js|\(Self.keyText)' JSPatch || echo none"
                #expect(try await Self.shell(world, found) == "none\n")
                _ = try await Self.shell(world, #"printf '{"e":1}' >\#(Self.folder)/index.html"#)
                try await PlatformClient.fetching(from: url) { (fetcher) async throws in
                    #expect(try await client.sync(from: fetcher, now: now) { draw } == .delete)
                }
                #expect(try client.scripts() == nil)
            }
            // The statistics' server: it writes down what is posted, and counts from the second time on.
            let counting = """
                import http.server
                class Counter(http.server.BaseHTTPRequestHandler):
                    asked = 0
                    def do_POST(self):
                        body = self.rfile.read(int(self.headers["content-length"])).decode()
                        print(self.path, self.headers["content-type"], body, flush=True)
                        Counter.asked += 1
                        answer = b'{"succ":1}' if Counter.asked > 1 else b'{}'
                        self.send_response(200); self.send_header("content-length", str(len(answer)))
                        self.end_headers(); self.wfile.write(answer)
                server = http.server.HTTPServer(("127.0.0.1", 0), Counter)
                print("port", server.server_port, flush=True)
                server.serve_forever()
                """
            _ = try await running(.python, ["-u", "-c", counting]) { host in
                let port = try #require(try await host.line(with: "port").firstMatch(of: #/port (\d+)/#)?.1)
                let url = try #require(ServerURL("http://127.0.0.1:\(port)"))
                for left in [1, 0, 0] {
                    try await PlatformClient.fetching(from: url) { (fetcher) async throws in
                        #expect(try await client.report(to: fetcher) == left)
                    }
                }
                let posted = "/succ.php application/x-www-form-urlencoded k=0a1b2c3d&av=2.1&pv=3&d=device%201"
                let seen = await host.text
                #expect(seen.components(posted) == 2, "\(seen)")
            }
        }
    }

    @Test func `is not made of what makes none, and nothing is written`() async throws {
        try await World.with { world in
            try await Self.prepare(world)
            try write("\(Self.keyText)\n", to: world.path("line.key"))
            _ = try await Self.shell(world, "mkdir page taken; echo '<html>' >page/index.html; echo mine >taken/file1")
            let number = "must be an integer from 1 to 999999999"
            for (arguments, code, text) in [
                (["cart.js"], 4, "file1: no script is named main.js"),
                (["main.js", "-o", "v1"], 64, "with --aes-key the output is called fileN, and N \(number)"),
                (["main.js", "-o", "file0"], 64, "with --aes-key the output is called fileN, and N \(number)"),
                (
                    ["main.js", "-o", "v2", "--app-version", "2.1"], 64,
                    "with --app-version the output is called fileN, and N"
                ),
                (["main.js", "-o", "page/file1"], 8, "page/index.html exists and is not a sync file"),
                (["main.js", "-o", "taken/file1"], 8, "taken/file1 exists already"),
                (["main.js", "--aes-key", "line.key"], 4, "line.key has 17 bytes; an AES key must be 16 bytes"),
                (["main.js", "--aes-key", "none.key"], 6, "none.key: it does not exist"),
                (["main.js", "--gray", "11"], 64, "--gray must be an integer from 0 to 10: tenths of all devices"),
                (
                    ["main.js", "--gray", "1", "--condition", "a==1"], 64,
                    "with --gray clients do not look at --condition"
                ),
                (["main.js", "--condition", "a=1"], 64, "--condition must be KEY==VALUE"),
                (["main.js", "--otherwise", "1"], 64, "--otherwise needs --condition"),
                (["main.js", "--condition", "a==1", "--otherwise", "0"], 64, "--otherwise \(number)"),
            ] as [([String], Int32, String)] {
                let key = arguments.contains("--aes-key") ? [] : ["--aes-key", "aes.key"]
                let outcome = try await run(
                    .patchsign,
                    ["pack"] + arguments + ["--jspatch-key", "jspatch.key"] + key,
                    in: world.folder
                )
                #expect(outcome.code == code && outcome.errors.contains(text), "\(outcome)")
                #expect(!outcome.errors.contains(Self.keyText) && !outcome.output.contains(Self.keyText))
            }
            let without = try await run(
                .patchsign,
                ["pack", "main.js", "--jspatch-key", "jspatch.key", "--paused"],
                in: world.folder
            )
            #expect(
                without.code == 64 && without.errors.contains("the options of the sync file need --aes-key"),
                "\(without)"
            )
            let left = try await Self.shell(
                world,
                "ls -A page taken; cat page/index.html taken/file1; ls -d file* v* || :"
            )
            #expect(left == "page:\nindex.html\n\ntaken:\nfile1\n<html>\nmine\n", "\(left)")
        }
    }
}
