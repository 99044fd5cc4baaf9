import Foundation
import Subprocess
import SystemPackage
import Testing

/// What went wrong on a server is named where an operator looks, with what to do about it.
@Suite("An operator in trouble")
struct OperatorTroubleTests {
    private static let app = Workshop.app

    private func curl(_ url: String) async throws -> String {
        try await run(.system("curl"), ["-sS", "-w", "%{http_code}", url]).done().output
    }

    @Test func `is told everywhere which app lost its timestamp, and begins none anew over it`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let keys = world.path("other")
            try await world.makeKeys(keys, of: "com.example.other")
            try await world.makeSite(site, keys: keys)
            let lost = "tree/\(Self.app)/metadata/timestamp.json"
            try await run(.system("rm"), [site.pushing(FilePath(lost)).string]).done()
            let labels = try read(site.appending("apps/\(Self.app)/labels.json"))

            let status = try await run(.patchsrv, ["status", "--data", site.string])
            #expect(
                status.code == 3
                    && status.output.hasPrefix(
                        """
                        com.example.other: ready
                        \(Self.app): unverified
                          the published tree has lost \(lost)
                          patchsrv check names each file; check --repair restores those that it can verify

                        app                channel     release  versions           waits  until
                        com.example.other  beta                 nothing published
                        """
                    ),
                "\(status)"
            )
            let doctor = try await run(.patchsrv, ["doctor", "--data", site.string])
            #expect(
                doctor.code == 3
                    && doctor.output.contains("fault  \(Self.app) tree: the published tree has lost \(lost)\n"),
                "\(doctor)"
            )
            try await serving(site) { _, url in
                let ready = try await curl("\(url)/readyz")
                #expect(
                    ready.hasSuffix("503") && ready.contains(#""error":"the published tree has lost \#(lost)""#),
                    "\(ready)"
                )
            }
            let begin = [
                "init", "--data", site.string, "--trust", world.shop.keys.string, "--online-key",
                "\(world.shop.keys)/online.key",
            ]
            for refused in [
                try await run(.patchsrv, begin), try await world.publish(world.shop.release(3), to: site),
            ] {
                #expect(
                    refused.code == 3
                        && refused.errors.contains("error: the published tree has lost \(lost)\nhint: patchsrv check"),
                    "\(refused)"
                )
            }
            #expect(try read(site.appending("apps/\(Self.app)/labels.json")) == labels)

            try write("x", to: site.pushing(FilePath(lost)))
            let damaged = try await world.publish(world.shop.release(3), to: site)
            #expect(
                damaged.code == 3
                    && damaged.errors.contains(
                        "the published tree of \(Self.app) does not verify: \(lost): timestamp is not JSON (byte 0)"
                    ),
                "\(damaged)"
            )
            for (arguments, expected) in [
                (
                    ["nowhere", "--data", site.string],
                    "error: there is no folder \(world.path("nowhere"))\nhint: name one that "
                ),
                (
                    [world.shop.release(3).string, "--data", "nowhere"],
                    "error: there is no app in \(world.path("nowhere"))\nhint: "
                ),
            ] {
                let missing = try await run(.patchsrv, ["publish"] + arguments, in: world.folder)
                #expect(missing.code == 6 && missing.errors.contains(expected), "\(missing)")
            }
        }
    }

    @Test func `gets lost labels back from the history where the tree has forgotten a release`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site2)
            let labels = site.appending("apps/\(Self.app)/labels.json")
            let before = try read(labels)
            for lost in [labels, site.tree.appending("metadata/1.production.json")] {
                try await run(.system("rm"), [lost.string]).done()
            }
            let repaired = try await run(.patchsrv, ["check", "--repair", "--data", site.string]).done()
            #expect(
                repaired.output.hasPrefix(
                    """
                    ✓ repaired apps/\(Self.app)/labels.json: record
                    - labels.json was made again from 2 releases of the tree and the history; no release is missing in it

                    """
                ),
                "\(repaired)"
            )
            #expect(try read(labels) == before)
        }
    }

    @Test func `is told by readyz and trust that the new online key is locked, and not asked for the old one`()
        async throws
    {
        try await World.with { world in
            let keys = world.path("keys")
            try await copy(world.shop.keys, to: keys)
            let site = try await world.site(world.shop.site1)
            let old = site.appending("apps/\(Self.app)/online.key")
            let lock = """
                openssl pkcs8 -topk8 -v2 aes-256-cbc -passout pass:before -in "$1" -out "$1.new" && mv "$1.new" "$1" && \
                chmod 600 "$1"
                """
            try await run(.system("sh"), ["-c", lock, "sh", old.string]).done()
            let passphrase = world.path("after.pass")
            try write("after-the-theft\n", to: passphrase)
            try await world.sign(
                "rotate",
                "online",
                "--keys",
                keys.string,
                "--bits",
                "2048",
                "--new-passphrase-file",
                passphrase.string
            ).done()
            let trust = ["trust", "--data", site.string, "--trust", keys.string]
            let arguments = ["serve", "--data", site.string] + anyPorts
            _ = try await running(.patchsrv, arguments, environment: ["PATCHSRV_PASSPHRASE": "before"]) { server in
                let url = try await server.operators()
                #expect(try await curl("\(url)/readyz").hasSuffix("200"))
                let without = try await run(.patchsrv, trust)
                #expect(
                    without.code == 3
                        && without.errors == """
                            error: the new root lists another online key than this server has
                            hint: give the new one with --online-key

                            """,
                    "\(without)"
                )
                let taken = try await run(
                    .patchsrv,
                    trust + ["--online-key", "\(keys)/online.key", "--passphrase-file", passphrase.string]
                ).done()
                #expect(
                    taken.output.hasSuffix(
                        "  a running patchsrv serve whose passphrase does not open this key signs nothing (see its /readyz): "
                            + "restart it\n"
                    ),
                    "\(taken)"
                )
                let ready = try await curl("\(url)/readyz")
                #expect(ready.hasSuffix("503") && ready.contains(#""status":"key-locked""#), "\(ready)")
            }
        }
    }

    @Test func `names host, port and protocol of what cannot be listened on or asked`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let (certificate, key) = (world.path("tls.crt"), world.path("tls.key"))
            try await run(
                .system("openssl"),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key.string,
                    "-out", certificate.string,
                ]
            ).done()
            let (data, serve) = (["--data", site.string], ["serve", "--data", site.string])
            let made = try await run(.patchsrv, ["token", "new", "a", "--grant", "*=admin"] + data).done()
            let token = String(made.output.prefix { !$0.isWhitespace })
            let tls = ["--tls-certificate", certificate.string, "--tls-key", key.string]
            try await serving(site, tls) { devices, url in
                let port = String(try #require(url.split(separator: ":").last))
                let dial = ["dial", "--channel", "prod", "--ca", certificate.string, "--server"]
                let plain = try await run(
                    .patchsrv,
                    dial + ["http://127.0.0.1:\(port)"],
                    environment: ["PATCHLINE_TOKEN": token]
                )
                #expect(
                    plain.code == 4
                        && plain.errors
                            == "error: the server answered 400\nhint: if that port uses TLS, use https://\n",
                    "\(plain)"
                )
                for command in [dial, ["history"] + dial.dropFirst(), ["parameters", "show"] + dial.dropFirst()] {
                    let unknown = try await run(.patchsrv, command + [url], environment: ["PATCHLINE_TOKEN": token])
                    #expect(
                        unknown.code == 3
                            && unknown.errors
                                == "error: \(Self.app) has no channel prod\nhint: its root of trust names beta, production\n",
                        "\(unknown)"
                    )
                }
                for (option, url) in [("--port", devices), ("--operators-port", url)] {
                    let port = String(try #require(url.split(separator: ":").last))
                    let doctor = try await run(.patchsrv, ["doctor", "--data", site.string, option, port])
                    let line = "ok  port: \(port) is served by patchsrv, over HTTPS\n"
                    #expect(doctor.output.contains(line), "\(doctor)")
                }
                let taken = try await run(.patchsrv, serve + ["--port", "0", "--operators-port", port])
                #expect(taken.code == 7 && taken.output == "", "\(taken)")
                #expect(
                    taken.errors.replacing(#/ by patchsrv \(process [0-9]+\)/#, with: "").hasSuffix(
                        """
                        error: port \(port) of 127.0.0.1 is in use
                        hint: stop the program that listens there, or name another with --operators-port (0 uses any free one)

                        """
                    ),
                    "\(taken)"
                )
                let inPlace = try await run(.patchsrv, ["restore", "--in-place", "--data", site.string])
                #expect(
                    inPlace.code == 7 && inPlace.errors.contains("error: a patchsrv serve runs over \(site)")
                        && inPlace.errors.hasSuffix("hint: stop it, restore, and start it again; nothing was changed\n"),
                    "\(inPlace)"
                )
            }
            let everywhere = serve + ["--operators-host", "0.0.0.0"] + anyPorts
            let open = try await run(.patchsrv, everywhere)
            #expect(
                open.code == 3
                    && open.errors == """
                        error: operators would connect to 0.0.0.0 without TLS, so the network could read their tokens
                        hint: name a certificate with --tls-certificate and --tls-key, or set --operators-insecure-http on in a \
                        network that you trust

                        """,
                "\(open)"
            )
            for allowed in [tls, ["--operators-insecure-http", "on"]] {
                try await running(.patchsrv, everywhere + allowed) { _ = try await $0.operators() }.1.done()
            }
            let host = try await run(.patchsrv, serve + ["--host", "192.0.2.1"] + anyPorts)
            #expect(
                host.code == 5
                    && host.errors.hasSuffix(
                        """
                        error: cannot listen on port 0 of 192.0.2.1: Cannot assign requested address
                        hint: --host names an address of this machine; 0.0.0.0 is all of them

                        """
                    ),
                "\(host)"
            )
            let dead = try await run(
                .patchsrv,
                ["dial", "--channel", "production", "--server", "http://127.0.0.1:9", "--retries", "1"],
                environment: ["PATCHLINE_TOKEN": token]
            )
            #expect(dead.code == 5 && dead.errors.split(separator: "\n").count == 3, "\(dead)")
            #expect(
                dead.errors.hasPrefix("no connection to 127.0.0.1:9: Connection refused; trying again in 1 s\nerror: "),
                "\(dead)"
            )
        }
    }

    @Test func `is told what a share may mean, and asks for the rest in the environment`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let environment: [Environment.Key: String?] = [
                "PATCHSRV_DATA": site.string, "PATCHSRV_CONFIG": "", "PATCHSRV_APP": Self.app,
                "PATCHSRV_CHANNEL": "production", "PATCHSRV_READY_WITHIN": "200d", "PATCHSRV_KEEP": "-1",
            ]
            for (share, expected) in [
                ("0.1", "--rollout 0.1 is not a share: write 0.1% or 10%"),
                ("10", "--rollout 10 is not a share: write 10%"),
                ("\"10\"", "--rollout \"10\" is not a share: write 10%"),
                ("110%", "--rollout 110% must be a share from 0% to 100% with at most two decimals"),
            ] {
                let refused = try await run(
                    .patchsrv,
                    ["dial", "--rollout", "web=\(share)"],
                    environment: environment
                )
                #expect(refused.code == 64 && refused.errors.contains("error: \(expected)\n"), "\(refused)")
            }
            let half = try await run(.patchsrv, ["dial", "--rollout", "web=50 %"], environment: environment).done()
            #expect(half.output.contains(" 50% "), "\(half)")
            try await run(.patchsrv, ["dial", "--headcount", "web@1.0.0=1"], environment: environment).done()
            let renewed = world.path("renewed")
            try await world.sign(
                "release",
                "renew",
                world.shop.release(1).string,
                "--keys",
                world.shop.keys.string,
                "--output",
                renewed.string
            ).done()
            let published = try await world.publish(renewed, to: site).done()
            #expect(
                published.output.contains("the dial holds web 1.0.0 at 50% in 1 place; 100% are signed"),
                "\(published)"
            )

            let status = try await run(.patchsrv, ["status"], environment: environment)
            #expect(status.code == 10 && status.output.contains("production 2 ends in "), "\(status)")
            let nearer = try await run(.patchsrv, ["status", "--within", "1d"], environment: environment)
            #expect(nearer.code == 0, "\(nearer)")
            let keep = try await run(.patchsrv, ["gc", "--dry-run"], environment: environment)
            #expect(keep.code == 64 && keep.errors.contains("PATCHSRV_KEEP must be from 0 to 1000000"), "\(keep)")
        }
    }
}
