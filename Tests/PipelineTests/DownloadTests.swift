import Subprocess
import SystemPackage
import Testing

/// Each test fails when the option that it is about is ignored.
@Suite("A sync by command")
struct DownloadTests {
    private let refused = "http://127.0.0.1:9"

    @Test func `tries as often as --retries says`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let device = try await world.newDevice(server: server.url)
                try server.turn("500", for: "timestamp.json")
                for (options, requests) in [(["--retries", "0"], 1), (["--retries", "2"], 3)] {
                    let start = await server.lineCount
                    let outcome = try await device.sync(options)
                    #expect(outcome.code == 5 && outcome.text.contains("the server answered 500"), "\(outcome)")
                    #expect(try await server.requests(from: start).count { $0.hasSuffix("timestamp.json") } == requests)
                }
            }
        }
    }

    @Test func `gives up on a silent server after --stall-timeout, on the whole sync after --deadline`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let device = try await world.newDevice(server: server.url)
                try server.turn("silent", for: "timestamp.json")
                let stalled = try await run(
                    .patchsync,
                    ["sync", "--store", device.store.string, "--retries", "0", "--stall-timeout", "0.2"]
                )
                #expect(stalled.code == 5 && stalled.text.contains("the server stopped sending"), "\(stalled)")
                let late = try await run(
                    .patchsync,
                    ["sync", "--store", device.store.string, "--retries", "0", "--deadline", "1"]
                )
                #expect(late.code == 5 && late.text.contains("the sync did not finish within 1 s"), "\(late)")
            }
        }
    }

    @Test(
        arguments: [
            (["--stall-timeout", "0.2"], "the server stopped sending"),
            (["--deadline", "1"], "the sync did not finish within 1 s"),
        ]
    )
    func `keeps to the same options while it serves`(option: [String], trouble: String) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let device = try await world.settledDevice(server: server.url)
                try server.turn("silent", for: "timestamp.json")
                let start = await server.lineCount
                try await device.serving(["--sync-every", "3600", "--retries", "0"] + option) { page in
                    let line = try await page.program.line(with: "trouble: sync:")
                    #expect(line.contains(trouble), "\(line)")
                }
                let requests = try await server.requests(from: start)
                // None where the machine is so slow that the time is over before.
                #expect(requests.count { $0.hasSuffix("timestamp.json") } <= 1)
            }
        }
    }

    @Test(arguments: [Signal.interrupt, .terminate])
    func `ends in good order when it is told to stop, and goes on the next time`(signal: Signal) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let device = try await world.newDevice(server: server.url)
                try server.turn("silent", for: "/objects/")
                let start = await server.lineCount
                let (_, outcome) = try await running(.patchsync, ["sync", "--store", device.store.string]) { program in
                    _ = try await server.request(of: "/objects/", from: start)
                    try await program.end(by: signal)
                }
                #expect(
                    outcome.code == 130 && outcome.text.contains("error: cancelled; downloaded data is kept"),
                    "\(outcome)"
                )
                try server.beHonest()
                let second = await server.lineCount
                try await device.sync().done()
                try await device.expectWhole(nil)
                let repeated = try await server.requests(from: second).filter { $0.contains(".production.json") }
                #expect(repeated == [], "roles are here already")
            }
        }
    }

    @Test func `goes on at the byte where another server broke off`() async throws {
        try await World.with { world in
            let log = world.path("access.log")
            let device = try await world.newDevice(server: refused)
            try await world.withServer(of: world.shop.site1) { server in
                try device.ask(server.url)
                try server.turn("short", for: "/objects/")
                #expect(try await device.sync().code == 9)
            }
            try await serving(world.shop.site1, ["--access-log", log.string]) { url in
                try device.ask(url)
                try await device.sync().done()
            }
            let objects = try read(log).split(separator: "\n").filter { $0.contains("/objects/") }
            #expect(objects.count == 7 && objects.allSatisfy { $0.contains("\" 206 ") }, "\(objects)")
            try await device.expectWhole(nil)
        }
    }

    @Test func `asks each --mirror in order where the ones before fail, and says so`() async throws {
        try await World.with { world in
            try await serving(world.shop.site1) { url in
                let device = Device(store: world.path("device"))
                let mirrors = ["--mirror", "http://127.0.0.1:7", "--mirror", url, "--mirror", "http://127.0.0.1:2"]
                try await run(
                    .patchsync,
                    ["init", "--store", device.store.string, "--root", world.root.string, "--server", refused] + mirrors
                ).done()
                let outcome = try await device.sync().done()
                let warnings = outcome.errors.split(separator: "\n").filter { $0.contains("warning: http") }
                try #require(warnings.count == 2, "\(outcome)")
                #expect(warnings[0].contains("warning: \(refused): "), "\(outcome)")
                #expect(warnings[1].contains("warning: http://127.0.0.1:7: "), "\(outcome)")
                try await device.expectWhole(nil)
                let set = try await device("set", "--mirror", "https://a.test", "--mirror", "http://b.test").done()
                #expect(set.output.contains("mirror: https://a.test\nmirror: http://b.test\n"), "\(set)")
                #expect(try await device("set", "--mirror", "").done().output.contains("mirror") == false)
                let alone = try await device.sync()
                #expect(alone.code == 5, "\(alone)")
                let plain = try await device("set", "--pin", "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
                #expect(plain.code == 3 && plain.text.contains("is contacted without TLS"), "\(plain)")
            }
        }
    }

    @Test func `trusts the authority of --ca, kept in the store, and the key of --pin, over TLS`() async throws {
        try await World.with { world in
            let (certificate, key) = (world.path("server.crt"), world.path("server.key"))
            try await run(
                .system("openssl"),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                    "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "3", "-keyout", key.string,
                    "-out", certificate.string,
                ]
            ).done()
            let pin = try await run(
                .system("bash"),
                [
                    "-c",
                    "openssl pkey -in \(key) -pubout -outform der | openssl dgst -sha256 -binary | base64 | tr -d '\\n'",
                ]
            ).done().output
            let tls = ["--tls-certificate", certificate.string, "--tls-key", key.string]
            try await serving(world.shop.site1, tls) { url in
                func device(_ name: String, _ options: String...) async throws -> Device {
                    let device = Device(store: world.path(name))
                    let arguments = [
                        "init", "--store", device.store.string, "--root", world.root.string, "--server", url,
                    ]
                    try await run(.patchsync, arguments + options).done()
                    return device
                }
                let ca = world.path("ca.pem")
                try await copy(certificate, to: ca)
                let trusting = try await device("trusting", "--ca", ca.string, "--pin", "sha256/\(pin)")
                try await run(.system("rm"), [ca.string]).done()
                try await trusting.sync().done()
                try await trusting.expectWhole(nil)

                let plain = try await device("plain").sync()
                #expect(
                    plain.code == 3 && plain.text.contains("is not signed by an authority that this device trusts"),
                    "\(plain)"
                )
                let none = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
                let pinned = try await device("pinned", "--ca", certificate.string, "--pin", none).sync()
                #expect(pinned.code == 3, "\(pinned)")
                #expect(pinned.text.contains("has another key than the pinned ones: sha256/\(pin)"), "\(pinned)")

                // Each is forgotten by itself.
                #expect(try await trusting("set", "--pin", "").done().output.contains("pinned key") == false)
                try await trusting.sync().done()
                let forgotten = try await trusting("set", "--ca", "").done()
                #expect(!forgotten.output.contains("authorities"), "\(forgotten)")
                #expect(try await trusting.sync().code == 3)
                // The system's authorities count where none is named.
                let known = try await run(.system("unshare"), try await Self.vouching(certificate, trusting))
                #expect(known.code == 0, "\(known)")
            }
        }
    }

    /// A sync on a machine whose system trusts this certificate's holder and nobody else.
    private static func vouching(_ certificate: FilePath, _ device: Device) async throws -> [String] {
        let script = """
            set -e
            for bundle in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt; do
                if [ -e "$bundle" ]; then mount --bind "$1" "$bundle"; fi
            done
            exec "$2" sync --store "$3" --retries 0
            """
        let namespace = try await run(.system("id"), ["-u"]).done().output.hasPrefix("0\n") ? "-m" : "-rm"
        let program = Tool.binaries.appending("patchsync").string
        return [namespace, "bash", "-c", script, "bash", certificate.string, program, device.store.string]
    }

    @Test func `refuses at init what would be ignored later`() async throws {
        try await World.with { world in
            let device = Device(store: world.path("device"))
            let none = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            let plain = try await device("init", "--root", world.root.string, "--server", refused, "--pin", none)
            #expect(plain.code == 3 && plain.text.contains("is contacted without TLS"), "\(plain)")
            let root = world.root.string
            let wrong = try await device("init", "--root", root, "--server", "https://a.test", "--ca", root)
            #expect(wrong.code == 4 && wrong.text.contains("no certificate of an authority"), "\(wrong)")
            let pin = try await device("init", "--root", root, "--server", "https://a.test", "--pin", "sha256/short")
            #expect(pin.code == 64, "\(pin)")
            #expect(try await run(.system("ls"), [world.folder.string]).done().output == "")
        }
    }

    /// In a network of its own, whose only link is down at first.
    @Test func `tries again at once when the network comes back`() async throws {
        try await World.with { world in
            let device = Device(store: world.path("device"))
            let tree = world.shop.site1.appending("tree").string
            // Nothing but the link's return can end the third wait in time: it lasts up to an hour.
            let script = """
                set -e
                mkfifo "$2/told"
                python3 -u -m http.server 8123 --bind 0.0.0.0 --directory "$1" >"$2/log" 2>&1 &
                server=$!
                trap 'kill $server' EXIT
                "$3" init --store "$2/device" --root "$4" --server http://127.0.0.1:8123
                "$3" sync --store "$2/device" --retries 9 2>"$2/told" &
                sync=$!
                while read -r line; do
                    echo "$line"
                    case "$line" in *"waiting up to 4."*|*"waiting up to 5."*|*"waiting up to 3."*|*"waiting up to 6."*) ip link set lo up ;; esac
                done <"$2/told"
                wait $sync
                """
            let namespace = try await run(.system("id"), ["-u"]).done().output.hasPrefix("0\n") ? ["-n"] : ["-rn"]
            let outcome = try await run(
                .system("unshare"),
                namespace + ["bash", "-c", script, "bash", tree, world.folder.string]
                    + [Tool.binaries.appending("patchsync").string, world.root.string]
            )
            #expect(outcome.code == 0, "\(outcome)")
            #expect(outcome.output.contains("the network changed: trying again"), "\(outcome)")
            try await device.expectWhole(nil)
        }
    }
}
